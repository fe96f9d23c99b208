"""PagedAttention's memory: blocks on demand, from anywhere in the pool, shared and copied on write.

r5   ─▶ 12 ─▶ 7 ─▶ 30           ×2 on 12 and 7: both tables hold them, neither may write there
r5.1 ─▶ 12 ─▶ 7 ─▶ 41           30 was copied to 41 when r5.1 wrote its first own token
"""

from collections.abc import Iterable
from collections.abc import Sequence as Series

from pycore.events import (
    BlockCopied,
    BlocksAllocated,
    BlocksFreed,
    EventLog,
    Forked,
    NullLog,
    PrefixShared,
)
from pycore.memory.block_pool import BlockPool
from pycore.memory.block_table import BlockTable
from pycore.memory.holdings import check_holdings, map_of, waste_of, waste_of_owners
from pycore.memory.memory_map import MemoryMap
from pycore.memory.move import Move
from pycore.memory.steady_tables import SteadyTables
from pycore.memory.swap_space import SwapSpace
from pycore.memory.swapping import Swapping
from pycore.memory.waste import Waste
from pycore.prefix_cache.columns import NodeColumns
from pycore.request import NULL_ID, PREFIX_ID, Request, Sequence


class PagedAllocator(Swapping):
    """A pool of blocks and a block table for each sequence that holds some. Implements KVAllocator.

    A sequence wastes less than one block, and any free block will do (vLLM paper, section 4). Sequences of a
    group share the blocks of what they have in common; the first write into a shared block copies that block
    and no other, and the last owner writes in place (section 4.4).
    """

    steady: SteadyTables | None = None
    finds_decoded = False

    def __init__(
        self,
        pool: BlockPool,
        block_size: int,
        log: EventLog | NullLog,
        *,
        prefix_len: int = 0,
        null_block: bool = False,
        swap_space: SwapSpace | None = None,
    ) -> None:
        """Takes a pool that nobody else uses.

        Args:
            pool: all its blocks are free.
            block_size: token slots a block, at least 1.
            log: told of each allocation and release.
            prefix_len: tokens of the operator's prefix, which stay in blocks of their own for good; 0: none.
            null_block: keep the first block from everybody, as vLLM V1 does.
            swap_space: where preempted groups can be swapped to; None: nowhere.

        Raises:
            ValueError: the prefix does not fit into the pool.
        """
        super().__init__(pool, block_size, BlockTable(prefix_len), swap_space)
        self.has_joined = False
        self.capacity = pool.num_blocks * block_size
        self._log = log
        self._null = BlockTable(0)
        self._null.append(pool.allocate(int(null_block)), block_size)
        blocks = pool.allocate(self._blocks_for(prefix_len))
        if blocks is None:
            raise ValueError(f"a prefix of {prefix_len} tokens does not fit into {self.capacity} slots")
        self._prefix.append(blocks, block_size)
        self._prefix.num_tokens = prefix_len
        self.largest_holding = pool.num_free * block_size

    @property
    def prefix_len(self) -> int:
        """Tokens of the operator's prefix."""
        return self._prefix.num_tokens

    @property
    def null_blocks(self) -> list[int]:
        """The block that is never handed out, if there is one."""
        return self._null.blocks

    @property
    def usage(self) -> float:
        """Share of the blocks that sequences hold, 0 to 1; one that is cached and unused is not held."""
        return 1 - self.pool.num_free / (self.pool.num_blocks - len(self._null.blocks))

    def slots_needed(self, request: Request) -> int:
        """See KVAllocator. Full blocks of the prompt count once, the operator's prefix not at all."""
        if request.num_seqs == 1 and not self._prefix.blocks:
            return self._blocks_for(request.kv_len) * self.block_size
        prompt = request.prompt_len // self.block_size if request.num_seqs > 1 else 0
        each = self._blocks_for(request.kv_len) - prompt
        total = prompt + request.num_seqs * max(each, 0)
        if request.output_len == 1:  # nothing is written after the prompt, so nothing is ever copied
            total = self._blocks_for(request.prompt_len)
        if self._prefix.num_tokens:
            total -= self._prefix_match(request, request.prompt_len) // self.block_size
        return total * self.block_size

    def _prefix_match(self, request: Request, num_tokens: int) -> int:
        """Tokens of the operator's prefix that a sequence need not compute: all but its last at most."""
        return min(request.shared_prefix, self._prefix.num_tokens, num_tokens - 1)

    def slots_to_admit(self, group: Series[Sequence], budget: int | None = None) -> int:
        """See KVAllocator. All share the full blocks of the prompt; what each generated is its own."""
        first = group[0]
        size = self.block_size
        num_tokens = first.num_tokens
        matched = self._prefix_match(first.request, num_tokens) if self._prefix.num_tokens else 0
        if budget is not None:
            num_tokens = min(num_tokens, matched + budget)
        blocks = -(-num_tokens // size) - matched // size
        if len(group) > 1:
            shared = first.request.prompt_len // size
            blocks += sum(-(-seq.num_tokens // size) - shared for seq in group[1:])
        return blocks * size

    def piece_to_admit(self, group: Series[Sequence]) -> int:
        """See KVAllocator."""
        return self.block_size

    def can_admit(self, group: Series[Sequence], keep_free: int, budget: int | None = None) -> bool:
        """See KVAllocator."""
        size = self.block_size
        blocks = self.pool.num_free - -(-keep_free // size)
        return self.slots_to_admit(group, budget) <= blocks * size

    def whole_blocks(self, num_tokens: int) -> int:
        """See KVAllocator."""
        return num_tokens - num_tokens % self.block_size

    def match_prefix(self, seq: Sequence) -> int:
        """See KVAllocator. Only the prefix that the operator declared; its last block may be held in part."""
        matched = self._prefix_match(seq.request, seq.num_tokens) if self._prefix.num_tokens else 0
        if matched <= 0:
            return 0
        blocks = self._prefix.blocks[: self._blocks_for(matched)]
        table = self._tables[seq.id] = BlockTable(seq.request.kv_len)
        table.append(blocks, self.block_size)
        table.may_share = True
        self.pool.share(blocks)
        self._log.emit(PrefixShared, seq.id, len(blocks), matched)
        return matched

    def allocate_slots(self, seq: Sequence, num_new: int) -> bool:
        """See KVAllocator. Only what the tokens at hand need is taken."""
        table = self._tables.get(seq.id)
        needed = seq.num_computed + num_new
        held = 0
        if table is not None:
            held = table.num_slots
            if needed <= held and not table.may_share:
                return True
        copied = self._shared_block_to_write(seq, table) if held and table.may_share else None
        missing = -((held - needed) // self.block_size) if needed > held else 0
        blocks = self._new_blocks(seq, missing + (copied is not None))
        if blocks is None:
            return False
        if table is None:
            table = self._tables[seq.id] = BlockTable(seq.request.kv_len)
        if copied is not None:
            self._copy_on_write(seq, table, copied, blocks.pop(0))
        if blocks:
            filled = table.blocks[-1] if held else None
            table.append(blocks, self.block_size)
            log = self._log
            if log.keeps:
                unused = self.pool.num_free - self.pool.num_cached
                log.emit(BlocksAllocated, seq.id, tuple(blocks), filled, unused)
        return True

    def rooms(self, seqs: Series[Sequence]) -> list[int] | None:
        """See KVAllocator."""
        tables = self._tables
        if not self.pool.has_shared:
            return [tables[seq.id].num_slots - seq.num_computed for seq in seqs]
        rooms = []
        for seq in seqs:
            table = tables[seq.id]
            if table.may_share:
                return None
            rooms.append(table.num_slots - seq.num_computed)
        return rooms

    def grow(self, seqs: Series[Sequence]) -> list[int]:
        """See KVAllocator."""
        tables, size = self._tables, self.block_size
        emit = self._log.emit if self._log.keeps else None
        blocks = self._new_blocks(seqs[0], len(seqs))
        free = self._num_unused + len(blocks)
        never = []
        for seq, block in zip(seqs, blocks, strict=True):
            table = tables[seq.id]
            if emit is not None:  # a call for each block of a run that nobody reads would be felt
                free -= 1
                emit(BlocksAllocated, seq.id, (block,), table.blocks[-1], free)
            table.blocks.append(block)
            table.num_slots = num_slots = table.num_slots + size
            table.frozen = None
            never.append(num_slots - table.final_tokens if num_slots > table.final_tokens else 0)
        return never

    def _shared_block_to_write(self, seq: Sequence, table: BlockTable) -> int | None:
        """Position in the table of the block that the next token goes to, if others hold that block too."""
        at = seq.num_computed // self.block_size
        if at < len(table.blocks) and self.pool.ref_count(table.blocks[at]) > 1:
            return at
        table.may_share = False  # it writes behind what it shares from here on
        return None

    def _copy_on_write(self, seq: Sequence, table: BlockTable, at: int, target: int) -> None:
        source = table.blocks[at]
        table.replace(at, target)
        table.may_share = False
        self.pool.free([source])
        self._moves.append(Move("copy", source, target))
        self._log.emit(BlockCopied, seq.id, source, target, self.pool.ref_count(source), self._num_unused)

    def commit(self, seqs: Iterable[Sequence]) -> None:
        """See KVAllocator."""
        tables = self._tables
        for seq in seqs:
            tables[seq.id].num_tokens = seq.num_computed

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """See KVAllocator. Copies the block table and no block."""
        source = self._tables[parent.id]
        blocks = source.blocks[: self._blocks_for(child.num_computed)]
        self.pool.share(blocks)
        table = self._tables[child.id] = BlockTable(child.request.kv_len)
        table.append(blocks, self.block_size)
        table.num_tokens = child.num_computed
        table.may_share = source.may_share = True
        self._log.emit(Forked, child.id, parent.id, child.name, len(blocks))

    def free(self, seq: Sequence) -> None:
        """See KVAllocator."""
        blocks = self._tables.pop(seq.id).blocks
        pool, log = self.pool, self._log
        released = pool.free(self._in_order_of_release(blocks))
        if log.keeps:
            kept = len(blocks) - len(released)
            log.emit(BlocksFreed, seq.id, tuple(released), pool.num_free - pool.num_cached, kept)

    @property
    def _num_unused(self) -> int:
        """Blocks that are free and hold nothing of use."""
        return self.pool.num_free - self.pool.num_cached

    def _holders(self) -> dict[int, BlockTable]:
        """All tables by holder, first those of no sequence: the null block, the operator's prefix."""
        if not self._prefix.blocks and not self._null.blocks:
            return self._tables
        others = ((NULL_ID, self._null), (PREFIX_ID, self._prefix))
        return {**{id: table for id, table in others if table.blocks}, **self._tables}

    def block_table(self, seq: Sequence) -> tuple[int, ...]:
        """Physical blocks of the sequence in logical order; empty if it holds none.

        The id PREFIX_ID stands for the operator's prefix.
        """
        table = self._prefix if seq.id == PREFIX_ID else self._tables.get(seq.id)
        return table.as_tuple() if table else ()

    @property
    def num_cached(self) -> int:
        """See KVAllocator."""
        return self.pool.num_cached * self.block_size

    @property
    def largest_free(self) -> int:
        """See KVAllocator: all free blocks, since they need not be adjacent."""
        return self.pool.num_free * self.block_size

    def memory_map(self) -> MemoryMap:
        """See KVAllocator."""
        return map_of(self._holders(), self.pool, self.block_size)

    def prefix_nodes(self) -> NodeColumns | None:
        """See KVAllocator: nothing is cached."""
        return None

    def waste(self, demand: int) -> Waste:
        """See KVAllocator."""
        if self.pool.has_shared or self._prefix.blocks:
            return waste_of(self._holders(), self.pool, self.block_size, demand)
        return waste_of_owners(self._tables.values(), self.pool, self.block_size, self._null.num_slots)

    def check(self) -> None:
        """See KVAllocator."""
        check_holdings(self._holders(), self.pool, self.block_size)
        if self.swap_space is not None:
            self.swap_space.check()
