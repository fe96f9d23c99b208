"""Blocks that are free, in use, or cached."""

import pytest

from pycore.memory.caching_pool import CachingBlockPool
from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.hash_chain import HashChain


@pytest.fixture
def pool() -> CachingBlockPool:
    """Six blocks, of which 0 and 1 are cached and unused, 2 is in use and cached."""
    pool = CachingBlockPool(6, HashChain(4, blake2b_key))
    pool.allocate(3)
    for block in range(3):
        pool.chain.store(block, bytes([block]))
    pool.free([1, 0])
    return pool


def test_a_cached_block_counts_as_one_that_can_be_had_and_is_told_apart(pool):
    assert (pool.num_free, pool.num_cached) == (5, 2)
    assert pool.cached() == [1, 0]
    pool.check()


def test_cached_blocks_are_handed_out_last_the_longest_unused_first(pool):
    assert pool.allocate(4) == [3, 4, 5, 1]
    assert pool.evicted == [1]
    assert 1 not in pool.chain
    assert pool.cached() == [0]
    pool.check()


def test_a_hit_takes_a_cached_block_out_of_the_queue(pool):
    pool.share([1, 2])
    assert [pool.ref_count(block) for block in (1, 2)] == [1, 2]
    assert pool.cached() == [0]
    assert pool.allocate(5) is None
    pool.check()


def test_a_free_block_that_holds_nothing_cannot_be_shared(pool):
    with pytest.raises(ValueError, match="cannot share block 4: it is free, and nothing is cached in it"):
        pool.share([0, 4])
    assert pool.cached() == [1, 0]
    pool.check()


def test_forgetting_all_leaves_the_order_of_the_queue(pool):
    pool.forget_all()
    assert pool.num_cached == 0
    assert pool.allocate(5) == [3, 4, 5, 1, 0]
    assert pool.evicted == []
    pool.check()


def test_check_finds_a_wrong_count_of_cached_blocks(pool):
    pool.num_cached = 1
    with pytest.raises(AssertionError, match="1 blocks cached"):
        pool.check()


def test_a_pool_without_blocks_is_refused():
    with pytest.raises(ValueError, match="at least 1 block"):
        CachingBlockPool(0, HashChain(4, blake2b_key))
