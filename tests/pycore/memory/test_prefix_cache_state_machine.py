"""Every block that a prefix cache returns holds exactly this prefix; broken caches are found out."""

from hashlib import blake2b

import pytest
from hypothesis.stateful import run_state_machine_as_test

from pycore.events import NullLog
from pycore.memory.caching_pool import CachingBlockPool
from pycore.memory.free_list import Ascending
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.memory.radix_caching import RadixCachingAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.memory.tree_pool import TreePool
from pycore.prefix_cache import radix
from pycore.prefix_cache.block_hash import BLOCK_HASHES, BlockHash
from pycore.prefix_cache.eviction import EVICTION
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prefix_cache.radix import RadixCache
from tests.pycore.memory.cached_memory import NUM_SLOTS, ONLY_FIND, SOME, machine_of

SIZE = 2


def chained(block_hash: BlockHash, uncached_first: bool = True):
    """What makes memory that finds blocks by their keys."""

    def make(space: SwapSpace) -> PrefixCachingAllocator:
        pool = CachingBlockPool(NUM_SLOTS // SIZE, HashChain(SIZE, block_hash), uncached_first=uncached_first)
        return PrefixCachingAllocator(pool, NullLog(), swap_space=space)

    return make


def in_a_tree(page_size: int = 1, eviction: str = "lru", tree: type[RadixCache] = RadixCache):
    """What makes memory that finds pages in a tree."""

    def make(space: SwapSpace) -> RadixCachingAllocator:
        num_pages = NUM_SLOTS // page_size
        cache = tree(page_size, EVICTION[eviction])
        pool = TreePool(num_pages, cache, Ascending(range(num_pages)))
        return RadixCachingAllocator(pool, NullLog(), swap_space=space)

    return make


@pytest.mark.parametrize("uncached_first", [True, False])
@pytest.mark.parametrize("name", BLOCK_HASHES)
def test_a_block_that_is_found_by_its_key_holds_exactly_this_prefix(name, uncached_first):
    run_state_machine_as_test(machine_of(chained(BLOCK_HASHES[name], uncached_first)), settings=SOME)


@pytest.mark.parametrize(("page_size", "eviction"), [(1, "lru"), (2, "lru"), (1, "mru"), (2, "slru")])
def test_a_page_that_is_found_in_the_tree_holds_exactly_this_prefix(page_size, eviction):
    run_state_machine_as_test(machine_of(in_a_tree(page_size, eviction)), settings=SOME)


def unchained(parent, tokens, extra) -> bytes:
    """A wrong hash: equal tokens behind different ones have equal keys."""
    return blake2b(repr((tuple(tokens), extra)).encode(), digest_size=16).digest()


def test_a_hash_that_forgets_the_parent_is_caught():
    with pytest.raises(AssertionError, match="found for another prefix"):
        run_state_machine_as_test(machine_of(chained(unchained)), settings=ONLY_FIND)


def test_a_tree_that_compares_only_the_first_token_of_a_stretch_is_caught(monkeypatch):
    def first_only(stretch, tokens, at, end):
        return min(len(stretch), end - at)

    monkeypatch.setattr(radix, "num_shared", first_only)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine_of(in_a_tree()), settings=ONLY_FIND)


class DeafToSalt(RadixCache):
    """A wrong tree: prompts of all namespaces are found by all."""

    def _edge(self, tokens, at, namespace):
        return super()._edge(tokens, at, None)


def test_a_tree_that_is_deaf_to_the_salt_is_caught():
    with pytest.raises(AssertionError, match="found for another prefix"):
        run_state_machine_as_test(machine_of(in_a_tree(tree=DeafToSalt)), settings=ONLY_FIND)
