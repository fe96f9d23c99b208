"""Paged memory that finds the beginning of a prompt by the keys of its full blocks."""

from array import array
from collections.abc import Iterable

from pycore.events import EventLog, NullLog
from pycore.memory.caching_pool import CachingBlockPool
from pycore.memory.prefix_reuse import PrefixReusingAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.prefix_cache.chain_history import ChainHistory
from pycore.prefix_cache.columns import NodeColumns
from pycore.prefix_cache.prefix_cache import Match
from pycore.request import Sequence


class PrefixCachingAllocator(PrefixReusingAllocator):
    """A PagedAllocator whose full blocks have keys and are found again, in use or not (vLLM V1).

    Blocks get their keys when they are allocated, so an equal prompt later in the same step finds them: it is
    computed after them.
    """

    finds_decoded = True

    def __init__(
        self,
        pool: CachingBlockPool,
        log: EventLog | NullLog,
        *,
        null_block: bool = False,
        swap_space: SwapSpace | None = None,
    ) -> None:
        """Takes a pool that nobody else uses; the size of its blocks is that of its chain.

        Args:
            pool, log, null_block, swap_space: see PagedAllocator.
        """
        super().__init__(pool, pool.chain.block_size, log, null_block=null_block, swap_space=swap_space)
        self.pool: CachingBlockPool = pool
        self._history = None if isinstance(log, NullLog) else ChainHistory()

    def look_up(self, seq: Sequence) -> list[int]:
        """The blocks that hold the beginning of the sequence. Pure: it does not count as a use of them."""
        prompt = seq.request.prompt
        if prompt is None or seq.tokens is None:
            return []
        self.pool.chain.extend(seq.block_keys, seq.tokens, prompt)
        return self.pool.chain.look_up(seq.block_keys[: (seq.num_tokens - 1) // self.block_size])

    def find(self, seq: Sequence) -> tuple[int, int]:
        """See PrefixReusingAllocator."""
        blocks = self.look_up(seq)
        return len(blocks) * self.block_size, self.pool.num_unused(blocks) * self.block_size

    def look_for(self, seq: Sequence) -> Match:
        """See PrefixReusingAllocator. No use of it: vLLM's queue does not refresh what it looks at."""
        blocks = self.look_up(seq)
        return Match(len(blocks) * self.block_size, None, array("q", blocks))

    def match_prefix(self, seq: Sequence) -> int:
        """See KVAllocator."""
        self._waiting.pop(seq.id, None)
        blocks = self.look_up(seq)
        if self._history is not None:
            self._history.found(seq.block_keys[: len(blocks)])
        return self._take_found(seq, blocks)

    def allocate_slots(self, seq: Sequence, num_new: int) -> bool:
        """See KVAllocator. Blocks that these tokens fill have a key from here on."""
        if not super().allocate_slots(seq, num_new):
            return False
        prompt = seq.request.prompt
        if prompt is None or seq.tokens is None:
            return True
        table = self._tables[seq.id]
        num_full = (seq.num_computed + num_new) // self.block_size
        if num_full > table.num_keyed:
            chain = self.pool.chain
            chain.extend(seq.block_keys, seq.tokens, prompt)
            for block, key in zip(
                table.blocks[table.num_keyed : num_full],
                seq.block_keys[table.num_keyed : num_full],
                strict=True,
            ):
                if block not in chain.keys:  # a sequence of the group has stored it
                    chain.store(block, key)
            if self._history is not None:
                self._history.stored(seq.block_keys[:num_full], table.num_keyed)
            table.num_keyed = num_full
            # A block that ends with a made-up token, below 0, is like nobody's prompt.
            if seq.num_computed < seq.request.prompt_len or seq.tokens[num_full * self.block_size - 1] >= 0:
                self.has_joined = True
        return True

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """See KVAllocator."""
        super().fork(parent, child)
        self._tables[child.id].num_keyed = min(
            self._tables[parent.id].num_keyed, child.num_computed // self.block_size
        )

    def prefix_nodes(self) -> NodeColumns | None:
        """See KVAllocator: a node for each key."""
        return self._history and self._history.columns(self.pool.chain, self.pool.ref_count)

    def _in_order_of_release(self, blocks: list[int]) -> Iterable[int]:
        """The last one first, so that a chain loses its tail before its head."""
        return blocks[::-1]

    def check(self) -> None:
        """See KVAllocator: also, the blocks of a table that have keys are its head."""
        super().check()
        for seq_id, table in self._tables.items():
            keyed = [block in self.pool.chain for block in table.blocks]
            assert keyed == sorted(keyed, reverse=True), (
                f"r{seq_id}: gap in the keys of {table.blocks}: {keyed}"
            )
            assert sum(keyed) >= table.num_keyed, (
                f"r{seq_id}: {table.num_keyed} blocks of {table.blocks} should have keys, {keyed}"
            )
