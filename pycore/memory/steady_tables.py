"""Block tables that take one token in every step, counted together and not looked at.

step modulo block size   0   1   2   3        a table that is full wants a block, and the next one a block
tables that want one     2   0   1   4        size of steps later: what is wanted in a step is read off
"""

from bisect import bisect_right
from heapq import heappop, heappush
from itertools import accumulate

from pycore.memory.block_pool import BlockPool
from pycore.memory.block_table import BlockTable
from pycore.request import Sequence


class SteadyTables:
    """The tables of sequences that decode. While they are here, those of the allocator do not show them.

    Attributes:
        real: slots that hold real KV.
        never: slots that will never be filled.
    """

    def __init__(self, tables: dict[int, BlockTable], pool: BlockPool, block_size: int) -> None:
        """None yet.

        Args:
            tables: those of the allocator, by sequence.
            pool: of their blocks; they are only counted.
            block_size: slots a block.
        """
        self.real = self.never = 0
        self._others = tables
        self._pool = pool
        self._size = block_size
        self._step = 0
        self._tables: dict[int, tuple[BlockTable, int]] = {}  # by sequence; and the step since when
        # How many want a block in a step, by that step modulo the block size; twice over, to be cut anywhere.
        self._wanting = [0] * (2 * block_size)
        # A heap of blocks to come that are the last of a table: in which step, slots that are never filled.
        self._last_blocks: list[tuple[int, int]] = []

    def join(self, seq: Sequence) -> bool:
        """Counts the table of a sequence in; False, and nothing changed, if it cannot be."""
        table = self._others[seq.id]
        tokens, slots, final, size = table.num_tokens, table.num_slots, table.final_tokens, self._size
        if table.may_share or not 0 <= slots - tokens < size:
            return False
        del self._others[seq.id]
        self._tables[seq.id] = table, self._step
        at = (self._step + slots - tokens) % size
        self._wanting[at] += 1
        self._wanting[at + size] += 1
        self.real += tokens
        if slots >= final:
            self.never += slots - final
        elif final % size:
            last_from = final - final % size  # token at which the last block begins
            heappush(self._last_blocks, (self._step + last_from - tokens, size - final % size))
        return True

    def leave(self, seq: Sequence) -> None:
        """Gives back the table of a sequence that is done."""
        size = self._size
        table, since = self._tables.pop(seq.id)
        at = (since + table.num_slots - table.num_tokens) % size
        self._wanting[at] -= 1
        self._wanting[at + size] -= 1
        final = table.num_tokens = table.final_tokens
        if table.num_slots < final:
            table.num_slots = final + -final % size
        self.real -= final
        self.never -= table.num_slots - final
        self._others[seq.id] = table

    def settle(self, ahead: int) -> None:
        """Gives back all tables, with room for `ahead` tokens more, for which blocks have been taken."""
        for seq_id, (table, since) in self._tables.items():
            table.num_tokens += self._step - since
            needed = table.num_tokens + ahead
            if needed > table.num_slots:
                table.num_slots = needed + -needed % self._size
            self._others[seq_id] = table
        self._tables.clear()
        self._wanting = [0] * (2 * self._size)
        self._last_blocks.clear()
        self.real = self.never = 0

    def take(self, limit: int) -> list[int]:
        """Takes the blocks for the next steps, at most `limit` and as many as there are blocks for.

        Returns:
            How many for each of these steps.
        """
        at, size, pool = self._step % self._size, self._size, self._pool
        if limit <= size:
            wanted = self._wanting[at : at + limit]
        else:
            wanted = (self._wanting[at : at + size] * (limit // size + 1))[:limit]
        num = sum(wanted)
        if num > pool.num_free:
            so_far = list(accumulate(wanted))
            lasting = bisect_right(so_far, pool.num_free)
            del wanted[lasting:]
            num = so_far[lasting - 1] if lasting else 0
        pool.owe(num)
        return wanted

    def advance(self, steps: int) -> list[tuple[int, int]]:
        """A token more in each table and step, for which blocks have been taken.

        Returns:
            Slots that will never be filled of blocks that were handed out, with the step, from 0 on.
        """
        start = self._step
        self._step = end = start + steps
        self.real += steps * len(self._tables)
        last_blocks = self._last_blocks
        never = []
        while last_blocks and last_blocks[0][0] < end:
            step, slots = heappop(last_blocks)
            self.never += slots
            never.append((step - start, slots))
        return never
