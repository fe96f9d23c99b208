"""Prompts served one at a time over blocks with a hash chain: the run behind experiments on blocks."""

from collections.abc import Iterable

from pycore.events import NullLog
from pycore.memory.caching_pool import CachingBlockPool
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Prompt
from pycore.request import Request, Sequence
from pycore.workload.few_shot import Exchange


class CountingPool(CachingBlockPool):
    """A CachingBlockPool that counts what it evicts.

    Attributes:
        num_evicted: cached blocks that were handed out anew.
        num_spared: of those, how many went while a free block that held nothing of use stood behind them.
    """

    __slots__ = ("num_evicted", "num_spared")

    def __init__(self, num_blocks: int, chain: HashChain, *, uncached_first: bool = True) -> None:
        """See CachingBlockPool."""
        super().__init__(num_blocks, chain, uncached_first=uncached_first)
        self.num_evicted = 0
        self.num_spared = 0

    def allocate(self, n: int) -> list[int] | None:
        """See CachingBlockPool."""
        cached = self.num_cached
        useless = self.num_free - cached
        blocks = super().allocate(n)
        if blocks is not None:
            evicted = cached - self.num_cached
            self.num_evicted += evicted
            self.num_spared += min(evicted, useless - (n - evicted))
        return blocks


class BlockServer:
    """Serves one request after the other: looked up, computed, answered, freed.

    Attributes:
        memory: its blocks.
        pool: the same, with what it counts.
        prompt_lens, hit_lens: tokens of each prompt that was served, and how many of them were cached.
        num_looked_up: keys that look-ups asked for.
        num_rejected: requests that do not fit into the pool.
    """

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        *,
        uncached_first: bool = True,
        memory: type[PrefixCachingAllocator] = PrefixCachingAllocator,
    ) -> None:
        """Nothing is cached.

        Args:
            num_blocks, block_size: the pool.
            uncached_first: see FreeQueue.
            memory: how blocks are released.
        """
        chain = HashChain(block_size, blake2b_key)
        self.pool = CountingPool(num_blocks, chain, uncached_first=uncached_first)
        self.memory = memory(self.pool, NullLog())
        self.prompt_lens: list[int] = []
        self.hit_lens: list[int] = []
        self.num_looked_up = 0
        self.num_rejected = 0

    @property
    def prompt_tokens(self) -> int:
        """In all prompts that were served."""
        return sum(self.prompt_lens)

    @property
    def hit_tokens(self) -> int:
        """Of those, cached."""
        return sum(self.hit_lens)

    @property
    def hit_rate(self) -> float:
        """Share of the prompt tokens that were cached, 0 to 1."""
        return self.hit_tokens / self.prompt_tokens if self.prompt_lens else 0.0

    def serve(self, each: Exchange) -> int:
        """Serves a request; returns how many tokens of its prompt were cached."""
        prompt = Prompt(tuple(each.prompt))
        seq = Sequence(Request(len(self.prompt_lens), 0, len(prompt.tokens), len(each.output), prompt=prompt))
        memory = self.memory
        if memory.slots_needed(seq.request) > memory.capacity:
            self.num_rejected += 1
            return 0
        hit = seq.num_computed = memory.match_prefix(seq)
        found, most = hit // memory.block_size, (seq.num_tokens - 1) // memory.block_size
        self.num_looked_up += min(found + 1, most)
        self.prompt_lens.append(seq.num_tokens)
        self.hit_lens.append(hit)
        self._compute(seq)
        seq.tokens += each.output[:-1]  # the last token is never fed back
        seq.num_tokens += len(each.output) - 1
        self._compute(seq)
        memory.free(seq)
        return hit

    def _compute(self, seq: Sequence) -> None:
        if not self.memory.allocate_slots(seq, seq.num_uncomputed):
            raise AssertionError(f"{seq} fits into the pool, and does not: {self.memory.memory_map()}")
        seq.num_computed = seq.num_tokens
        self.memory.commit([seq])


def serve_all(server: BlockServer, load: Iterable[Exchange]) -> BlockServer:
    """The server, after the whole load."""
    for each in load:
        server.serve(each)
    return server
