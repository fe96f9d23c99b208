"""What paged memory does the same way whatever finds the beginning of a prompt: ask, count, tell."""

from abc import ABC, abstractmethod
from collections.abc import Sequence as Series

from pycore.events import BlocksEvicted, EventLog, NullLog, PrefixHit
from pycore.memory.block_table import BlockTable
from pycore.memory.caching_pool import CachingPool
from pycore.memory.paged import PagedAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.prefix_cache.prefix_cache import Match
from pycore.prefix_cache.prefix_stats import PrefixStats
from pycore.prefix_cache.prompt_key import PromptKey
from pycore.request import Sequence


class PrefixReusingAllocator(PagedAllocator, ABC):
    """A PagedAllocator that finds blocks again, in use or not. All but the last token of a sequence can be
    found, as a forward pass needs one token at least.

    Attributes:
        stats: hits so far.
    """

    def __init__(
        self,
        pool: CachingPool,
        block_size: int,
        log: EventLog | NullLog,
        *,
        null_block: bool = False,
        swap_space: SwapSpace | None = None,
    ) -> None:
        """Takes a pool that nobody else uses; for the arguments see PagedAllocator."""
        super().__init__(pool, block_size, log, null_block=null_block, swap_space=swap_space)
        self.pool: CachingPool = pool
        self.stats = PrefixStats()
        self._waiting: dict[int, PromptKey] = {}  # of sequences that were asked for and hold nothing

    def prompt_key(self, seq: Sequence) -> PromptKey | None:
        """What a sequence that holds nothing says, all tokens known so far; None: its prompt does not say."""
        prompt = seq.request.prompt
        if prompt is None or seq.tokens is None:
            return None
        key = self._waiting.get(seq.id)
        if key is None or key.prompt is not prompt:
            key = self._waiting[seq.id] = PromptKey(prompt)
        key.extend(seq.tokens)
        return key

    @abstractmethod
    def look_for(self, seq: Sequence) -> Match:
        """What is cached of a sequence that waits, to order the queue by it; with some caches a use of it."""

    @abstractmethod
    def find(self, seq: Sequence) -> tuple[int, int]:
        """How much of the sequence is cached. Pure: it does not count as a use.

        Returns:
            Tokens that are found, whole blocks; and of these, those in blocks that nobody holds.
        """

    def slots_to_admit(self, group: Series[Sequence], budget: int | None = None) -> int:
        """See KVAllocator. A block that is found counts too unless somebody holds it."""
        found, unused = self.find(group[0])
        if budget is not None:
            budget += found
        return super().slots_to_admit(group, budget) - (found - unused)

    def _take_found(self, seq: Sequence, blocks: list[int]) -> int:
        """Gives a sequence that holds nothing the blocks that were found for it; returns their tokens."""
        num_tokens = len(blocks) * self.block_size
        if seq.tokens is not None:
            self.stats.count(seq.num_tokens, num_tokens, preempted=seq.preemptions > 0)
        if not blocks:
            return 0
        self.pool.share(blocks)
        table = self._tables[seq.id] = BlockTable(seq.request.kv_len)
        table.append(blocks, self.block_size)
        table.num_tokens = num_tokens
        table.num_keyed = len(blocks)
        self._log.emit(PrefixHit, seq.id, tuple(blocks), num_tokens)
        return num_tokens

    def _new_blocks(self, seq: Sequence, n: int) -> list[int] | None:
        blocks = super()._new_blocks(seq, n)
        if self.pool.evicted:
            self._log.emit(BlocksEvicted, seq.id, tuple(self.pool.evicted), self._evicted_nodes())
            self.pool.evicted.clear()
        return blocks

    def _evicted_nodes(self) -> tuple[int, ...]:
        """Nodes of a tree that were evicted; forgets them."""
        return ()

    def reset(self) -> bool:
        """Forgets all that is cached, unless somebody holds a block; returns whether it did."""
        if self._tables:
            return False
        self.pool.forget_all()
        return True
