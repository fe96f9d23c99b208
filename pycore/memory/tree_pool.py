"""A pool that shares its blocks with a radix tree: cache and running sequences, out of one memory.

Eviction is not lazy as in a hash chain: a leaf goes whole, and what of it is not needed at once is free.
"""

from collections.abc import Iterable

from pycore.memory.caching_pool import CachingPool
from pycore.memory.free_list import FreeList
from pycore.prefix_cache.radix import RadixCache


class TreePool(CachingPool):
    """A CachingPool whose index is a radix tree with a block number for each page.

    Its free list has the blocks that no node names and nobody holds.

    A locked node is held by tables, all of its blocks by the same number of them; so what is evictable
    in the tree is what is cached in the pool, and no count is kept twice without being checked.

    Attributes:
        tree: the cached prefixes; only this pool and its allocator may change it.
        evicted_nodes: numbers of the nodes whose blocks are in `evicted`.
    """

    __slots__ = ("_named", "evicted_nodes", "tree")

    def __init__(self, num_blocks: int, tree: RadixCache, free_list: FreeList) -> None:
        """All blocks start free.

        Args:
            num_blocks: size of the pool, at least 1; a block is a page of the tree.
            tree: nothing is cached in it.
            free_list: the order of blocks that no node names; holds all of them.
        """
        self._named: set[int] = set()
        super().__init__(num_blocks, free_list, self._named)
        self.tree = tree
        self.evicted_nodes: list[int] = []

    def keep(self, blocks: Iterable[int]) -> None:
        """Notes that the tree names these blocks from now on, which somebody holds."""
        self._named.update(blocks)

    def allocate(self, n: int) -> list[int] | None:
        """See BlockPool. Evicts leaves if there are too few blocks that no node names."""
        missing = n - (self.num_free - self.num_cached)
        if missing > 0 and n <= self.num_free:
            self._evict(missing)
        return super().allocate(n)

    def _put_back(self, released: list[int]) -> None:
        named = self._named
        unnamed = [block for block in released if block not in named]
        self._free.put(unnamed)
        self.num_free += len(released)
        self.num_cached += len(released) - len(unnamed)

    def _unheld(self) -> list[int]:
        return [*self._free, *self.cached()]

    def _evict(self, num_blocks: int) -> None:
        for leaf in self.tree.evict(num_blocks * self.tree.page_size):
            blocks = leaf.values.tolist()
            self._named.difference_update(blocks)
            self._free.put(blocks)
            self.num_cached -= len(blocks)
            self.evicted += blocks
            self.evicted_nodes.append(leaf.id)

    def cached(self) -> list[int]:
        """Blocks that are cached and that nobody holds, the next to be evicted first. Visits the tree."""
        return [block for node in self.tree.in_order_of_eviction() for block in node.values]

    def forget_all(self) -> None:
        """Evicts all that nobody holds."""
        self._evict(self.num_cached)
        self.evicted.clear()
        self.evicted_nodes.clear()

    def check(self) -> None:
        """See CachingPool: also, a node has as many users as each of its blocks has holders."""
        super().check()
        self.tree.check()
        page = self.tree.page_size
        sizes = (self.tree.evictable, self.tree.total)
        expected = (self.num_cached * page, len(self._named) * page)
        assert sizes == expected, f"{sizes} tokens evictable and in the tree, {expected} in blocks"
        held = self.num_blocks - self.num_free
        free = self.num_free - self.num_cached
        assert free + self.num_cached + held == self.num_blocks, f"{free} free, {held} held: not the pool"
        nodes = self.tree.nodes()
        named = [block for values in nodes.values for block in values]
        assert len(named) == len(set(named)), f"two nodes name the same block: {nodes.values}"
        assert set(named) == self._named, f"the tree names {sorted(named)}, not {sorted(self._named)}"
        for id, users, blocks in zip(nodes.id, nodes.users, nodes.values, strict=True):
            for block in blocks:
                count = self.ref_count(block)
                assert count == users, f"node {id} has {users} users, block {block} {count} holders"
