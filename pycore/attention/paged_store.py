"""PagedAttention in arrays: scattered blocks, read through the very tables that the allocator keeps."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Numbers
from dataclasses import dataclass

import numpy as np

from pycore.attention.block_arrays import BlockArrays
from pycore.attention.grouped_query import attend_at_once, group, score, ungroup
from pycore.attention.online_softmax import OnlineSoftmax
from pycore.attention.weights import TransformerShape
from pycore.memory.move import Move
from pycore.request import Sequence

# A tile's tokens when nobody says otherwise: enough that what numpy costs per call (a dozen calls a tile) is
# small beside the arithmetic, few enough that the tile stays in the processor's cache.
_TILE_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Tile:
    """A few blocks of one sequence in one layer, in logical order.

    Attributes:
        first: position of the first token.
        blocks: (blocks,) physical block numbers.
        keys, values: (tokens, kv_heads, head_dim), filled slots only.
    """

    first: int
    blocks: np.ndarray
    keys: np.ndarray
    values: np.ndarray


class PagedStore:
    """Keys and values in the blocks of a pool. Implements KVStore.

    Arrays only: who owns which block is decided elsewhere. Token i of a sequence lies in block
    `block_table(seq)[i // block_size]`, slot `i % block_size`, whoever else may hold that block.

    Attributes:
        blocks: the pool, as arrays.
        cpu_blocks: where swapped blocks go; may have none.
        block_size: token slots a block.
        tile_blocks: blocks read at a time.
    """

    def __init__(
        self,
        shape: TransformerShape,
        num_blocks: int,
        block_size: int,
        block_table: Callable[[Sequence], Numbers[int]],
        *,
        num_cpu_blocks: int = 0,
        tile_blocks: int | None = None,
    ) -> None:
        """Empty blocks.

        Args:
            shape: of the transformer.
            num_blocks: size of the pool.
            block_size: token slots a block.
            block_table: a sequence's blocks in logical order; usually `PagedAllocator.block_table`.
            num_cpu_blocks: size of the swap space.
            tile_blocks: blocks that `attend` reads at a time, at least 1; as many as make 512 tokens if None.

        Raises:
            ValueError: a tile of no blocks.
        """
        if tile_blocks is not None and tile_blocks < 1:
            raise ValueError(f"a tile needs at least 1 block, not {tile_blocks}")
        self.blocks = BlockArrays(shape, num_blocks, block_size)
        self.cpu_blocks = BlockArrays(shape, num_cpu_blocks, block_size)
        self.block_size = block_size
        self.tile_blocks = tile_blocks or max(1, _TILE_TOKENS // block_size)
        self._block_table = block_table
        self._lengths: dict[int, int] = {}
        self._tables: dict[int, tuple[tuple[int, ...], np.ndarray]] = {}  # the last table seen, and its array

    def length(self, seq: Sequence) -> int:
        """See KVStore."""
        return self._lengths.get(seq.id, 0)

    def _table(self, seq: Sequence, num_tokens: int) -> np.ndarray:
        """(blocks,) numbers of the blocks that hold the first `num_tokens` tokens."""
        table = self._block_table(seq)
        needed = -(-num_tokens // self.block_size)
        if len(table) < needed:
            raise ValueError(
                f"r{seq.id}: {num_tokens} tokens need {needed} blocks, its table has {len(table)}"
            )
        known, array = self._tables.get(seq.id, (None, None))
        if table is not known:
            array = np.asarray(table, np.intp)
            if type(table) is tuple:  # cannot change behind our back: every layer reads the same array
                self._tables[seq.id] = (table, array)
        return array[:needed]

    def write(self, layer: int, seq: Sequence, keys: np.ndarray, values: np.ndarray) -> None:
        """See KVStore: one indexed store, however the blocks are scattered."""
        start = self.length(seq)
        positions = np.arange(start, start + len(keys))  # (tokens,)
        blocks = self._table(seq, start + len(keys))[positions // self.block_size]  # (tokens,)
        slots = positions % self.block_size  # (tokens,)
        self.blocks.keys[layer, blocks, slots] = keys
        self.blocks.values[layer, blocks, slots] = values

    def attend(self, layer: int, seq: Sequence, queries: np.ndarray) -> np.ndarray:
        """See KVStore: tile by tile, so that working memory does not grow with the context."""
        tokens, start = len(queries), self.length(seq)
        rows = group(queries, self.blocks.keys.shape[3])  # (kv_heads, group_size * tokens, head_dim)
        merged = OnlineSoftmax(rows.shape, rows.dtype)
        for tile in self.tiles(layer, seq, start + tokens):
            scores = score(rows, tile.keys, tile.first, start, tokens)  # (kv_heads, rows, tile)
            merged.update(scores, tile.values.transpose(1, 0, 2))
        return ungroup(merged.result(), tokens)

    def tiles(self, layer: int, seq: Sequence, num_tokens: int) -> Iterator[Tile]:
        """The first `num_tokens` tokens of a sequence, `tile_blocks` blocks at a time. Pure.

        Raises:
            ValueError: the sequence's table is too short for them.
        """
        table = self._table(seq, num_tokens)
        keys, values = self.blocks.keys[layer], self.blocks.values[layer]  # (blocks, slots, kv_heads, dim)
        for at in range(0, len(table), self.tile_blocks):
            blocks = table[at : at + self.tile_blocks]
            first = at * self.block_size
            filled = min(num_tokens - first, len(blocks) * self.block_size)
            yield Tile(first, blocks, _in_a_row(keys, blocks)[:filled], _in_a_row(values, blocks)[:filled])

    def attend_gathered(self, layer: int, seq: Sequence, queries: np.ndarray) -> np.ndarray:
        """What `attend` computes, the plain way: all keys copied together first. For comparison only."""
        num_tokens = self.length(seq) + len(queries)
        table = self._table(seq, num_tokens)
        keys = _in_a_row(self.blocks.keys[layer], table)[:num_tokens]
        values = _in_a_row(self.blocks.values[layer], table)[:num_tokens]
        return attend_at_once(queries, keys, values)

    def advance(self, seq: Sequence, num_tokens: int) -> None:
        """See KVStore."""
        self._lengths[seq.id] = self.length(seq) + num_tokens

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """See KVStore: nothing is copied, the child's table names the parent's blocks."""
        self._lengths[child.id] = self.length(parent)

    def forget(self, seq: Sequence) -> None:
        """See KVStore: the blocks keep their old content until somebody writes over it."""
        self._lengths.pop(seq.id, None)
        self._tables.pop(seq.id, None)

    def carry_out(self, moves: Iterable[Move]) -> None:
        """Copies blocks as memory management asks, one after the other, before the next `write`.

        Raises:
            IndexError: a block number past the end.
        """
        spaces = {
            "copy": (self.blocks, self.blocks),
            "out": (self.blocks, self.cpu_blocks),
            "in": (self.cpu_blocks, self.blocks),
        }
        for move in moves:
            source, target = spaces[move.kind]
            target.copy_from(source, [(move.source, move.target)])


def _in_a_row(layer: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Copies (blocks, slots, kv_heads, head_dim)[blocks] to (blocks * slots, kv_heads, head_dim)."""
    return layer[blocks].reshape(-1, *layer.shape[2:])
