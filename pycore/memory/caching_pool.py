"""A pool whose blocks outlive their holders: free, in use, or cached.

          allocate              free, known                share (a hit)
free ───────────────▶ in use ──────────────────▶ cached ──────────────────▶ in use
  ▲                      │                          │
  └─── free, unknown ────┘                          └── evicted: free, or in use by somebody else
"""

from collections.abc import Container, Iterable

from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import FreeList
from pycore.memory.free_queue import FreeQueue
from pycore.prefix_cache.hash_chain import HashChain


class CachingPool(BlockPool):
    """A BlockPool some of whose blocks an index knows; those can be handed out too once nobody holds them.

    The index never owns a block: it names those whose content it knows.

    Attributes:
        num_free: blocks that can be handed out, the cached ones among them.
        num_cached: of those, the cached ones.
        evicted: blocks that the index had to give up since somebody last cleared the list.
    """

    __slots__ = ("_known", "evicted")

    def __init__(self, num_blocks: int, free_list: FreeList, known: Container[int]) -> None:
        """All blocks start free.

        Args:
            num_blocks, free_list: see BlockPool.
            known: the blocks that the index knows; none yet.
        """
        super().__init__(num_blocks, free_list)
        self._known = known
        self.evicted: list[int] = []

    def share(self, blocks: Iterable[int]) -> None:
        """See BlockPool; a cached block is no longer free, the others keep their turn.

        Raises:
            ValueError: one of them is free and not cached (then nothing changed).
        """
        blocks = list(blocks)
        ref_counts, known = self._ref_counts, self._known
        unused = [block for block in blocks if not ref_counts[block]]
        for block in unused:
            if block not in known:
                raise ValueError(f"cannot share block {block}: it is free, and nothing is cached in it")
        if unused:
            self._take_back(list(dict.fromkeys(unused)))
        for block in blocks:
            ref_counts[block] += 1
        self.has_shared = self.has_shared or bool(blocks)

    def _take_back(self, cached: list[int]) -> None:
        """These are cached, and somebody holds them from now on."""
        self.num_free -= len(cached)
        self.num_cached -= len(cached)

    def num_unused(self, blocks: Iterable[int]) -> int:
        """How many of the blocks nobody holds."""
        return sum(self._ref_counts[block] == 0 for block in blocks)

    def check(self) -> None:
        """See BlockPool: also, what is cached is what nobody holds and the index knows."""
        super().check()
        cached = sorted(self.cached())
        expected = [block for block in sorted(self._unheld()) if block in self._known]
        assert cached == expected, f"cached: {cached}, known and held by nobody: {expected}"
        assert len(cached) == self.num_cached, f"{self.num_cached} blocks cached, not {cached}"


class CachingBlockPool(CachingPool):
    """A CachingPool over a FreeQueue: blocks have keys, and lose them when their turn in the queue comes.

    Attributes:
        chain: the keys.
    """

    __slots__ = ("chain",)

    def __init__(self, num_blocks: int, chain: HashChain, *, uncached_first: bool = True) -> None:
        """All blocks start free, handed out in ascending order at first.

        Args:
            num_blocks: size of the pool, at least 1.
            chain: nothing is cached in it.
            uncached_first: see FreeQueue.
        """
        queue = FreeQueue(range(num_blocks), chain.keys, uncached_first=uncached_first)
        super().__init__(num_blocks, queue, chain.keys)
        self.chain = chain

    def _take_back(self, cached: list[int]) -> None:
        super()._take_back(cached)
        remove = self._free.remove
        for block in cached:
            remove(block)

    def _put_back(self, released: list[int]) -> None:
        super()._put_back(released)
        keys = self.chain.keys
        self.num_cached += sum([block in keys for block in released])

    def allocate(self, n: int) -> list[int] | None:
        """See BlockPool. Lazy eviction: a block is given up when its turn in the queue has come."""
        blocks = super().allocate(n)
        if blocks and self.num_cached:
            evicted = [block for block in blocks if self.chain.forget(block)]
            self.num_cached -= len(evicted)
            self.evicted += evicted
        return blocks

    def cached(self) -> list[int]:
        """Blocks that are cached and that nobody holds, the next to be evicted first."""
        return [block for block in self._free if block in self.chain.keys]

    def forget_all(self) -> None:
        """Takes all keys; what was cached is free where it stands in the queue."""
        self.chain.clear()
        self.num_cached = 0

    def check(self) -> None:
        """See CachingPool."""
        super().check()
        self.chain.check()
