"""Tokens known by blocks: equal where their ids are, and like nothing else where there is no id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.block_tokens import MAX_BLOCK_SIZE, MAX_ID, BlockTokens, GrowingTokens
from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Prompt
from pycore.request import Request, Sequence


@st.composite
def prompts(draw, block_size):
    length = draw(st.integers(0, 40))
    most = -(-length // block_size)
    ids = draw(st.lists(st.integers(0, 3), max_size=most, min_size=max(0, most - 1)))
    return BlockTokens(ids, block_size, length, draw(st.integers(0, 3)))


@given(prompts(4), st.integers(-45, 45), st.integers(-45, 45))
def test_parts_are_those_of_the_list_of_all_tokens(tokens, start, stop):
    whole = list(tokens)
    assert len(whole) == len(tokens)
    assert list(tokens[start:stop]) == whole[start:stop]
    assert [tokens[i] for i in range(-len(whole), len(whole))] == whole * 2
    growing = GrowingTokens(tokens)
    for token in (-1, -2, -3):
        growing.append(token)
    assert list(growing[start:stop]) == [*whole, -1, -2, -3][start:stop]
    assert growing[-2] == -2


@given(prompts(4), prompts(4), st.integers(1, 7))
def test_keys_of_any_page_size_are_shared_as_far_as_the_ids_are(one, other, page):
    chain = HashChain(page, blake2b_key)
    keys = []
    for tokens in (one, other):
        keys.append([])
        chain.extend(keys[-1], tokens, Prompt(tokens))
    shared = 0
    for mine, its in zip(one.ids, other.ids, strict=False):
        if mine != its:
            break
        shared += 4
    shared = min(shared, one.num_known, other.num_known)
    if one.number == other.number and shared == one.num_known == other.num_known:
        shared = min(len(one), len(other))  # the same request twice
    equal = 0
    for mine, its in zip(*keys, strict=False):
        if mine != its:
            break
        equal += 1
    assert equal == shared // page


def test_every_token_is_an_integer_of_64_bits():
    most = BlockTokens((MAX_ID,), MAX_BLOCK_SIZE, 2 * MAX_BLOCK_SIZE - 1, MAX_ID)
    assert -(1 << 63) <= most[-1] < -(1 << 62)
    assert most[MAX_BLOCK_SIZE - 1] < 1 << 63


@pytest.mark.parametrize(
    ("ids", "size", "length", "number"),
    [((-1,), 4, 4, 0), ((MAX_ID + 1,), 4, 4, 0), ((1, 2), 4, 4, 0), ((), 0, 4, 0), ((), 4, 4, -1)],
)
def test_what_is_out_of_range_is_refused(ids, size, length, number):
    with pytest.raises(ValueError, match=r"expected|out of range|ids for"):
        BlockTokens(ids, size, length, number)


def test_a_sequence_takes_its_prompt_as_blocks_and_grows():
    seq = Sequence(Request(0, 0, 6, 2, prompt=Prompt(BlockTokens((5, 6), 4, 6))))
    seq.tokens.append(-1)
    assert list(seq.tokens) == [20, 21, 22, 23, 24, 25, -1]
    assert list(Sequence(seq.request).tokens) == [20, 21, 22, 23, 24, 25]
