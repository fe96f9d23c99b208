"""Keys of full blocks, and which blocks they find."""

import pytest

from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Media, Prompt


def keys_of(prompt: Prompt, size: int = 4) -> list[bytes]:
    keys: list[bytes] = []
    HashChain(size, blake2b_key).extend(keys, prompt.tokens, prompt)
    return keys


def common(one: Prompt, other: Prompt) -> int:
    """How many leading blocks the two share."""
    pairs = zip(keys_of(one), keys_of(other), strict=False)
    equal = [a == b for a, b in pairs]
    return equal.index(False) if False in equal else len(equal)


@pytest.mark.parametrize(("num_tokens", "num_keys"), [(3, 0), (4, 1), (7, 1), (8, 2)])
def test_only_full_blocks_have_a_key(num_tokens, num_keys):
    assert len(keys_of(Prompt(tuple(range(num_tokens))))) == num_keys


def test_keys_come_out_the_same_in_one_go_or_token_by_token():
    prompt = Prompt(tuple(range(13)))
    chain, keys = HashChain(4, blake2b_key), []
    for length in range(14):
        chain.extend(keys, prompt.tokens[:length], prompt)
    assert keys == keys_of(prompt)


def test_equal_tokens_behind_different_ones_have_another_key():
    assert common(Prompt((1, 1, 1, 1, 5, 6, 7, 8)), Prompt((2, 2, 2, 2, 5, 6, 7, 8))) == 0


def test_a_salt_is_in_all_blocks_through_the_first():
    tokens = tuple(range(8))
    assert common(Prompt(tokens, salt="a"), Prompt(tokens, salt="a")) == 2
    assert common(Prompt(tokens, salt="a"), Prompt(tokens, salt="b")) == 0
    assert common(Prompt(tokens, salt="a"), Prompt(tokens)) == 0
    assert not set(keys_of(Prompt(tokens, salt="a"))) & set(keys_of(Prompt(tokens)))


def test_salt_and_adapter_of_one_name_are_two_things():
    tokens = tuple(range(8))
    assert common(Prompt(tokens, salt="a"), Prompt(tokens, adapter="a")) == 0


def test_media_tell_only_the_blocks_apart_that_they_lie_in_and_those_after():
    tokens = tuple(range(16))
    cat, dog = (Prompt(tokens, media=(Media(5, 2, name),)) for name in ("cat", "dog"))
    assert common(cat, dog) == 1
    assert common(cat, Prompt(tokens)) == 1
    assert common(Prompt(tokens, media=(Media(8, 4, "cat"),)), Prompt(tokens)) == 2


def test_the_same_picture_one_token_later_is_another_block():
    tokens = (7,) * 8
    here, there = (Prompt(tokens, media=(Media(first, 2, "cat"),)) for first in (0, 1))
    assert common(here, there) == 0


def test_a_look_up_stops_at_the_first_block_that_is_missing():
    chain, keys = HashChain(4, blake2b_key), keys_of(Prompt(tuple(range(12))))
    for block, key in enumerate(keys):
        chain.store(block, key)
    chain.forget(1)
    assert chain.look_up(keys) == [0]
    assert 2 in chain


def test_of_equal_blocks_the_oldest_is_found_and_then_the_next():
    chain, (key,) = HashChain(4, blake2b_key), keys_of(Prompt((1, 2, 3, 4)))
    for block in (7, 3, 5):
        chain.store(block, key)
    found = []
    for block in (7, 3, 5):
        found.append(chain.look_up([key]))
        chain.forget(block)
        chain.check()
    assert found == [[7], [3], [5]]
    assert chain.look_up([key]) == []


def test_newest_only_finds_the_newest_and_no_other_when_it_is_gone():
    chain, (key,) = HashChain(4, blake2b_key, newest_only=True), keys_of(Prompt((1, 2, 3, 4)))
    chain.store(7, key)
    chain.store(3, key)
    assert chain.look_up([key]) == [3]
    assert chain.forget(3)
    chain.check()
    assert chain.look_up([key]) == []
    assert chain.blocks() == [7]


def test_forgetting_a_block_without_a_key_says_so():
    assert not HashChain(4, blake2b_key).forget(2)


def test_a_block_cannot_be_cached_twice():
    chain = HashChain(4, blake2b_key)
    chain.store(0, b"a")
    with pytest.raises(ValueError, match="block 0 is cached already"):
        chain.store(0, b"b")


def test_a_block_of_no_tokens_is_refused():
    with pytest.raises(ValueError, match="0 tokens, expected at least 1"):
        HashChain(0, blake2b_key)


def test_check_finds_a_block_under_a_key_that_is_not_its_own():
    chain = HashChain(4, blake2b_key)
    chain.store(0, b"a")
    chain.keys[0] = b"b"
    with pytest.raises(AssertionError, match="a key that is not its own"):
        chain.check()


def test_check_finds_a_block_that_is_found_by_nothing():
    chain = HashChain(4, blake2b_key)
    chain.store(0, b"a")
    chain._blocks.clear()
    with pytest.raises(AssertionError, match="have keys"):
        chain.check()
