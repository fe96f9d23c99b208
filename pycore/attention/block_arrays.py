"""The physical blocks of one device, as arrays."""

from collections.abc import Iterable

import numpy as np

from pycore.attention.weights import TransformerShape


class BlockArrays:
    """Keys and values of `num_blocks` blocks; a block number means the same block in every layer.

    Attributes:
        keys, values: (layers, blocks, slots, kv_heads, head_dim).
    """

    __slots__ = ("keys", "values")

    def __init__(self, shape: TransformerShape, num_blocks: int, block_size: int) -> None:
        """All zeros. `num_blocks` may be 0: a device without room."""
        dims = (shape.num_layers, num_blocks, block_size, shape.num_kv_heads, shape.head_dim)
        self.keys = np.zeros(dims, shape.dtype)
        self.values = np.zeros(dims, shape.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values."""
        return self.keys.nbytes + self.values.nbytes

    def copy_from(self, source: "BlockArrays", pairs: Iterable[tuple[int, int]]) -> None:
        """Copies whole blocks, one after the other, so that a pair sees what the pairs before it wrote.

        Args:
            source: may be these arrays themselves.
            pairs: (block of `source`, block of these arrays).

        Raises:
            IndexError: a block number past the end.
        """
        for from_block, to_block in pairs:
            self.keys[:, to_block] = source.keys[:, from_block]
            self.values[:, to_block] = source.values[:, from_block]
