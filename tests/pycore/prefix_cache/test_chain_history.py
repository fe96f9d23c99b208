"""A hash chain as columns, for pictures."""

from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.chain_history import ChainHistory
from pycore.prefix_cache.columns import LOST
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Prompt


def keys_of(tokens):
    chain, keys = HashChain(4, blake2b_key), []
    chain.extend(keys, tokens, Prompt(tuple(tokens)))
    return keys


def followed(*stored):
    """A chain with these (blocks, keys), and its history."""
    chain, history = HashChain(4, blake2b_key), ChainHistory()
    for blocks, keys in stored:
        for block, key in zip(blocks, keys, strict=True):
            if block not in chain:
                chain.store(block, key)
        history.stored(keys, 0)
    return chain, history


def nobody(block):
    return 0


def test_a_node_names_the_one_before_and_all_blocks_with_equal_content():
    one, other = keys_of(range(12)), keys_of((*range(4), *range(70, 74)))
    chain, history = followed(((9, 4), one[:2]), ((9, 2), other), ((9, 7, 5), one))
    nodes = history.columns(chain, users=lambda block: block % 2)
    assert nodes.id == (1, 2, 3, 4)
    assert nodes.parent == (0, 1, 1, 2)
    assert (nodes.start, nodes.length) == ((0, 4, 4, 8), (4, 4, 4, 4))
    assert nodes.values == ((9,), (4, 7), (2,), (5,))
    assert nodes.users == (1, 1, 0, 1)


def test_what_is_found_was_used_later_than_what_is_not():
    keys = keys_of(range(8))
    chain, history = followed(((0, 1), keys))
    history.found(keys[:1])
    first, second = history.columns(chain, nobody).last_used
    assert first > second


def test_what_came_after_a_lost_key_says_so_and_a_key_that_comes_back_is_a_new_node():
    keys = keys_of(range(8))
    chain, history = followed(((0, 1), keys))
    chain.forget(0)
    assert history.columns(chain, nobody).parent == (LOST,)
    chain.store(6, keys[0])
    history.stored(keys, 0)
    nodes = history.columns(chain, nobody)
    assert (nodes.id, nodes.parent) == ((3, 2), (0, 3))


def test_an_empty_chain_has_no_nodes():
    chain, history = followed(((0, 1), keys_of(range(8))))
    chain.clear()
    assert history.columns(chain, nobody).id == ()
