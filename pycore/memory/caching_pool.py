"""A pool whose blocks outlive their holders: free, in use, or cached.

          allocate              free, has a key            share (a hit)
free ───────────────▶ in use ──────────────────▶ cached ──────────────────▶ in use
  ▲                      │                          │
  └──── free, no key ────┘                          └── allocate: evicted, then in use
"""

from collections.abc import Iterable

from pycore.memory.block_pool import BlockPool
from pycore.memory.free_queue import FreeQueue
from pycore.prefix_cache.hash_chain import HashChain


class CachingBlockPool(BlockPool):
    """A BlockPool over a FreeQueue; cached blocks can be handed out too, and lose their key when they are.

    Attributes:
        num_free: blocks that can be handed out, the cached ones among them.
        num_cached: of those, the cached ones.
        chain: the keys.
        evicted: blocks that lost their key since somebody last cleared the list.
    """

    __slots__ = ("chain", "evicted")

    def __init__(self, num_blocks: int, chain: HashChain, *, uncached_first: bool = True) -> None:
        """All blocks start free, handed out in ascending order at first.

        Args:
            num_blocks: size of the pool, at least 1.
            chain: nothing is cached in it.
            uncached_first: see FreeQueue.
        """
        super().__init__(num_blocks, FreeQueue(range(num_blocks), chain.keys, uncached_first=uncached_first))
        self.chain = chain
        self.evicted: list[int] = []

    def allocate(self, n: int) -> list[int] | None:
        """See BlockPool. Lazy eviction: a block is given up when its turn in the queue has come."""
        blocks = super().allocate(n)
        if blocks and self.num_cached:
            evicted = [block for block in blocks if self.chain.forget(block)]
            self.num_cached -= len(evicted)
            self.evicted += evicted
        return blocks

    def share(self, blocks: Iterable[int]) -> None:
        """See BlockPool; a cached block leaves the queue, whoever else is in it keeps its place.

        Raises:
            ValueError: one of them is free and not cached (then nothing changed).
        """
        blocks = list(blocks)
        unused = [block for block in blocks if self.ref_count(block) == 0]
        for block in unused:
            if block not in self.chain:
                raise ValueError(f"cannot share block {block}: it is free, and nothing is cached in it")
        for block in dict.fromkeys(unused):
            self._free.remove(block)
            self.num_free -= 1
            self.num_cached -= 1
        for block in blocks:
            self._ref_counts[block] += 1

    def free(self, blocks: Iterable[int]) -> list[int]:
        """See BlockPool. The order given is the order in the queue."""
        released = super().free(blocks)
        self.num_cached += sum([block in self.chain.keys for block in released])
        return released

    def num_unused(self, blocks: Iterable[int]) -> int:
        """How many of the blocks nobody holds."""
        return sum(self._ref_counts[block] == 0 for block in blocks)

    def cached(self) -> list[int]:
        """Blocks that are cached and that nobody holds, the next to be evicted first."""
        return [block for block in self._free if block in self.chain.keys]

    def forget_all(self) -> None:
        """Takes all keys; what was cached is free where it stands in the queue."""
        self.chain.clear()
        self.num_cached = 0

    def check(self) -> None:
        """See BlockPool."""
        super().check()
        self.chain.check()
        cached = self.cached()
        assert len(cached) == self.num_cached, f"{self.num_cached} blocks cached, not {cached}"
