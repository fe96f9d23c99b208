"""One contiguous array a sequence, as before paging; the reference for PagedStore."""

import numpy as np

from pycore.attention.grouped_query import attend_at_once
from pycore.attention.weights import TransformerShape
from pycore.request import Sequence


class DenseStore:
    """Keys and values of each sequence in one piece of `max_len` tokens. Implements KVStore."""

    def __init__(self, shape: TransformerShape, max_len: int) -> None:
        """An empty store; `max_len` tokens are set aside for each sequence that writes."""
        self._dims = (shape.num_layers, max_len, shape.num_kv_heads, shape.head_dim)
        self._dtype = shape.dtype
        self._max_len = max_len
        self._lengths: dict[int, int] = {}
        self._keys: dict[int, np.ndarray] = {}  # id -> (layers, max_len, kv_heads, head_dim)
        self._values: dict[int, np.ndarray] = {}

    def length(self, seq: Sequence) -> int:
        """See KVStore."""
        return self._lengths.get(seq.id, 0)

    def write(self, layer: int, seq: Sequence, keys: np.ndarray, values: np.ndarray) -> None:
        """See KVStore."""
        start = self.length(seq)
        end = start + len(keys)
        if end > self._max_len:
            raise ValueError(f"r{seq.id}: {end} tokens do not fit the {self._max_len} set aside for it")
        if seq.id not in self._keys:
            self._keys[seq.id] = np.zeros(self._dims, self._dtype)
            self._values[seq.id] = np.zeros(self._dims, self._dtype)
        self._keys[seq.id][layer, start:end] = keys
        self._values[seq.id][layer, start:end] = values

    def attend(self, layer: int, seq: Sequence, queries: np.ndarray) -> np.ndarray:
        """See KVStore."""
        end = self.length(seq) + len(queries)
        return attend_at_once(
            queries,
            self._keys[seq.id][layer, :end],
            self._values[seq.id][layer, :end],
        )

    def advance(self, seq: Sequence, num_tokens: int) -> None:
        """See KVStore."""
        self._lengths[seq.id] = self.length(seq) + num_tokens

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """See KVStore: a private copy, since a contiguous piece cannot be shared."""
        self._lengths[child.id] = self.length(parent)
        self._keys[child.id] = self._keys[parent.id].copy()
        self._values[child.id] = self._values[parent.id].copy()

    def forget(self, seq: Sequence) -> None:
        """See KVStore."""
        for held in (self._lengths, self._keys, self._values):
            held.pop(seq.id, None)
