"""How groups of sequences leave paged memory for the CPU's, and come back.

r5 ─▶ 12 ─▶ 7 ─▶ 30      swapped out: three copies to CPU blocks, and three free blocks
r5 ─▶  4 ─▶ 9 ─▶  1      swapped in: three copies back, to whichever blocks are free then
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence as Series
from itertools import chain

from pycore.memory.block_pool import BlockPool
from pycore.memory.block_table import BlockTable
from pycore.memory.move import Move
from pycore.memory.swap_space import SwapSpace
from pycore.request import Request, Sequence


class Swapping(ABC):
    """The block tables of a PagedAllocator, as far as they are moved.

    A block that is shared is copied once, and the operator's prefix never.

    Attributes:
        pool: the blocks of the GPU.
        block_size: token slots a block.
        swap_space: those of the CPU; None: nothing is swapped.
    """

    def __init__(
        self, pool: BlockPool, block_size: int, prefix: BlockTable, swap_space: SwapSpace | None
    ) -> None:
        """Nobody holds anything; for the arguments see PagedAllocator."""
        self.pool = pool
        self.block_size = block_size
        self.swap_space = swap_space
        self._prefix = prefix
        self._tables: dict[int, BlockTable] = {}
        self._swapped: dict[int, int] = {}  # swapped sequence → blocks of the prefix at the head of its table
        self._moves: list[Move] = []

    @abstractmethod
    def slots_needed(self, request: Request) -> int:
        """See KVAllocator."""

    @property
    def num_free(self) -> int:
        """See KVAllocator."""
        return self.pool.num_free * self.block_size

    def _blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self.block_size)

    def _new_blocks(self, seq: Sequence, n: int) -> list[int] | None:
        """`n` blocks for `seq`; None, and nothing changed, if there are fewer."""
        return self.pool.allocate(n)

    def _in_order_of_release(self, blocks: list[int]) -> Iterable[int]:
        """The blocks of a table, in the order in which they become free."""
        return blocks

    def swap_out(self, group: Series[Sequence]) -> int:
        """See KVAllocator."""
        if self.swap_space is None:
            return 0
        own = {seq.id: self._tables[seq.id].blocks[self._num_prefix_blocks(seq) :] for seq in group}
        place = self.swap_space.put(own)
        if place is None:
            return 0
        self._moves += [Move("out", source, target) for source, target in place.items()]
        for seq in group:
            self._swapped[seq.id] = self._num_prefix_blocks(seq)
            self.pool.free(self._in_order_of_release(self._tables.pop(seq.id).blocks))
        return len(place)

    def _num_prefix_blocks(self, seq: Sequence) -> int:
        """How many blocks at the head of its table are the operator's: they never leave the GPU."""
        pairs = zip(self._tables[seq.id].blocks, self._prefix.blocks, strict=False)
        return sum(mine == prefix for mine, prefix in pairs)

    def can_swap_in(self, group: Series[Sequence], keep_free: int, *, capped: bool = True) -> bool:
        """See KVAllocator."""
        keep_free = self._blocks_for(keep_free) * self.block_size
        return self.slots_to_swap_in(group, capped=capped) + keep_free <= self.num_free

    def slots_to_swap_in(self, group: Series[Sequence], *, capped: bool = True) -> int:
        """See KVAllocator. Its blocks, and one for the next token of each sequence, as vLLM V0 asks.

        Whoever left in the middle of its prompt comes back to compute the rest, and needs room for that too.
        """
        blocks = self.swap_space.num_blocks([seq.id for seq in group]) + len(group)
        slots = max(blocks, self._blocks_for(group[0].num_tokens)) * self.block_size
        return min(slots, self.slots_needed(group[0].request)) if capped else slots

    def swap_in(self, group: Series[Sequence]) -> int:
        """See KVAllocator."""
        tables = self.swap_space.tables([seq.id for seq in group])
        holders = Counter(chain.from_iterable(tables.values()))
        place = dict(zip(holders, self._new_blocks(group[0], len(holders)), strict=True))
        for seq in group:
            table = self._tables[seq.id] = BlockTable(seq.request.kv_len)
            prefix = self._prefix.blocks[: self._swapped.pop(seq.id)]
            self.pool.share(prefix)
            table.append([*prefix, *(place[block] for block in tables[seq.id])], self.block_size)
            table.num_tokens = seq.num_computed
            table.may_share = True
        for block, count in holders.items():
            self.pool.share([place[block]] * (count - 1))
        self.swap_space.take([seq.id for seq in group])
        self._moves += [Move("in", source, target) for source, target in place.items()]
        return len(place)

    def take_moves(self) -> list[Move]:
        """See KVAllocator."""
        moves, self._moves = self._moves, []
        return moves
