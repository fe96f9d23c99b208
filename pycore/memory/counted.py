"""Paged memory whose blocks are only counted: which they are is said when somebody has to know.

    r5 ─▶ 3 blocks          held, and none of them has a number yet
    r7 ─▶ 12 ─▶ 4 ─▶ 1 more r7 was swapped out and in: its blocks had to be copied, so they have numbers

For replays, whose totals do not depend on which block is whose.
"""

from collections.abc import Sequence as Series

from pycore.events import NullLog
from pycore.memory.block_pool import BlockPool
from pycore.memory.block_table import BlockTable
from pycore.memory.paged import PagedAllocator
from pycore.memory.steady_tables import SteadyTables
from pycore.memory.swap_space import SwapSpace
from pycore.memory.waste import Waste
from pycore.named_tuples import of_fields
from pycore.request import Sequence


class CountedAllocator(PagedAllocator):
    """A PagedAllocator without an operator's prefix and without a log, which counts what it hands out.

    A table may have more slots than blocks: those left over are owed by the pool. As soon as two sequences
    are to share a block, all are named, and from there on it is a PagedAllocator.
    """

    def __init__(
        self,
        pool: BlockPool,
        block_size: int,
        log: NullLog,
        *,
        null_block: bool = False,
        swap_space: SwapSpace | None = None,
    ) -> None:
        """Takes a pool that nobody else uses; for the arguments see PagedAllocator."""
        super().__init__(pool, block_size, log, null_block=null_block, swap_space=swap_space)
        self.steady = SteadyTables(self._tables, pool, block_size)
        self._counts = True

    def allocate_slots(self, seq: Sequence, num_new: int) -> bool:
        """See KVAllocator."""
        table = self._tables.get(seq.id)
        if not self._counts or (table is not None and table.may_share):
            return super().allocate_slots(seq, num_new)
        missing = seq.num_computed + num_new
        if table is not None:
            missing -= table.num_slots
            if missing <= 0:
                return True
        blocks = -(-missing // self.block_size)
        if blocks > self.pool.num_free:
            return False
        self.pool.owe(blocks)
        if table is None:
            table = self._tables[seq.id] = BlockTable(seq.request.kv_len)
        table.num_slots += blocks * self.block_size
        return True

    def grow(self, seqs: Series[Sequence]) -> list[int]:
        """See KVAllocator."""
        if not self._counts:
            return super().grow(seqs)
        self.pool.owe(len(seqs))
        never = []
        for seq in seqs:
            table = self._tables[seq.id]
            table.num_slots += self.block_size
            never.append(max(0, table.num_slots - table.final_tokens))
        return never

    def free(self, seq: Sequence) -> None:
        """See KVAllocator."""
        table = self._tables[seq.id]
        if table.blocks:
            self.pool.forgive(self._num_owed(table))
            super().free(seq)
        else:
            self.pool.forgive(table.num_slots // self.block_size)
            del self._tables[seq.id]

    def _num_owed(self, table: BlockTable) -> int:
        return table.num_slots // self.block_size - len(table.blocks)

    def _name(self, table: BlockTable) -> None:
        """Says which blocks a table holds."""
        owed = self._num_owed(table)
        if owed:
            table.blocks.extend(self.pool.name(owed))
            table.frozen = None

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """See KVAllocator. Which block is whose matters from here on."""
        self._counts = False
        for table in self._tables.values():
            self._name(table)
        super().fork(parent, child)

    def swap_out(self, group: Series[Sequence]) -> int:
        """See KVAllocator."""
        for seq in group:
            self._name(self._tables[seq.id])
        return super().swap_out(group)

    def block_table(self, seq: Sequence) -> tuple[int, ...]:
        """See PagedAllocator."""
        if seq.id in self._tables:
            self._name(self._tables[seq.id])
        return super().block_table(seq)

    def _holders(self) -> dict[int, BlockTable]:
        for table in self._tables.values():
            self._name(table)
        return super()._holders()

    def waste(self, demand: int) -> Waste:
        """See KVAllocator."""
        if not self._counts:
            return super().waste(demand)
        size, steady, pool = self.block_size, self.steady, self.pool
        real, never = steady.real, steady.never
        for table in self._tables.values():  # of those that decode, none is here
            real += table.num_tokens
            if table.num_slots > table.final_tokens:
                never += table.num_slots - table.final_tokens
        held = (pool.num_blocks - pool.num_free) * size
        ever = held - self._null.num_slots - never
        return of_fields(Waste, (real, ever - real, held - ever, 0, pool.num_free * size, 0))
