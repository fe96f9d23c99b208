"""PagedAttention's memory: blocks on demand, one at a time, from anywhere in the pool."""

from collections import Counter
from itertools import chain

from pycore.events import BlocksAllocated, BlocksFreed, EventLog, NullLog
from pycore.memory.block_pool import BlockPool
from pycore.memory.block_table import BlockTable
from pycore.memory.memory_map import MemoryMap
from pycore.memory.waste import Waste, tell_apart
from pycore.request import Request, Sequence


class PagedAllocator:
    """A pool of blocks and a block table for each sequence that holds some. Implements KVAllocator.

    A sequence wastes less than one block, and any free block will do (vLLM paper, section 4).
    """

    def __init__(self, pool: BlockPool, block_size: int, log: EventLog | NullLog) -> None:
        """Takes a pool that nobody else uses.

        Args:
            pool: all its blocks are free.
            block_size: token slots a block, at least 1.
            log: told of each allocation and release.
        """
        self.pool = pool
        self.block_size = block_size
        self.capacity = pool.num_blocks * block_size
        self.largest_holding = self.capacity
        self._tables: dict[int, BlockTable] = {}
        self._log = log

    def _blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self.block_size)

    def slots_needed(self, request: Request) -> int:
        """See KVAllocator."""
        return self._blocks_for(request.kv_len) * self.block_size

    def slots_to_admit(self, seq: Sequence) -> int:
        """See KVAllocator."""
        return self._blocks_for(seq.num_tokens) * self.block_size

    def allocate_slots(self, seq: Sequence, num_new: int, keep_free: int = 0) -> bool:
        """See KVAllocator. Only what the tokens at hand need is taken."""
        table = self._tables.get(seq.id)
        needed = seq.num_computed + num_new
        held = table.num_slots if table else 0
        if needed <= held:
            return True
        missing = self._blocks_for(needed - held)
        if keep_free and missing + self._blocks_for(keep_free) > self.pool.num_free:
            return False
        blocks = self.pool.allocate(missing)
        if blocks is None:
            return False
        if table is None:
            table = self._tables[seq.id] = BlockTable(seq.request.kv_len)
        filled = table.blocks[-1] if held else None
        table.append(blocks)
        table.num_slots += missing * self.block_size
        self._log.emit(BlocksAllocated, seq.id, tuple(blocks), filled, self.pool.num_free)
        return True

    def commit(self, seq: Sequence) -> None:
        """See KVAllocator."""
        self._tables[seq.id].num_tokens = seq.num_computed

    def free(self, seq: Sequence) -> None:
        """See KVAllocator."""
        released = self.pool.free(self._tables.pop(seq.id).blocks)
        self._log.emit(BlocksFreed, seq.id, tuple(released), self.pool.num_free)

    def block_table(self, seq: Sequence) -> tuple[int, ...]:
        """Physical blocks of the sequence in logical order; empty if it holds none."""
        table = self._tables.get(seq.id)
        return table.frozen() if table else ()

    @property
    def num_free(self) -> int:
        """See KVAllocator."""
        return self.pool.num_free * self.block_size

    @property
    def largest_free(self) -> int:
        """See KVAllocator: all free blocks, since they need not be adjacent."""
        return self.num_free

    def memory_map(self) -> MemoryMap:
        """See KVAllocator."""
        tables = self._tables.values()
        size = self.block_size
        free = self.num_free
        return MemoryMap(
            self.capacity,
            size,
            tuple(self._tables),
            tuple([table.num_tokens for table in tables]),
            tuple([table.final_tokens for table in tables]),
            tuple([table.num_slots for table in tables]),
            tuple([table.frozen() for table in tables]),
            self.capacity - free,
            (free,) if free else (),
        )

    def waste(self, demand: int) -> Waste:
        """See KVAllocator."""
        tables = self._tables.values()
        real = sum([table.num_tokens for table in tables])
        ever = sum([t.final_tokens if t.final_tokens < t.num_slots else t.num_slots for t in tables])
        free = self.num_free
        return tell_apart(real, ever, self.capacity - free, (free,), demand)

    def check(self) -> None:
        """See KVAllocator: a block's reference count = the tables that hold it; tokens fit their blocks."""
        self.pool.check()
        holders = Counter(chain.from_iterable(table.blocks for table in self._tables.values()))
        for block in range(self.pool.num_blocks):
            count = self.pool.ref_count(block)
            assert holders[block] == count, (
                f"block {block}: {holders[block]} tables hold it, its reference count is {count}"
            )
        for seq_id, table in self._tables.items():
            assert table.num_slots == len(table.blocks) * self.block_size, (
                f"r{seq_id}: {table.num_slots} slots in {len(table.blocks)} blocks of {self.block_size}"
            )
            assert table.num_tokens <= table.num_slots, (
                f"r{seq_id}: {table.num_tokens} tokens in {len(table.blocks)} blocks of {self.block_size}"
            )
