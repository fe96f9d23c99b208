"""Where the transformer leaves keys and values: the protocol of contiguous and paged stores."""

from typing import Protocol

import numpy as np

from pycore.request import Sequence


class KVStore(Protocol):
    """Keys and values of many sequences.

    A forward pass calls `write` and `attend` once a layer for each sequence, then `advance` once. The other
    two follow what happens to sequences: memory stays with the allocator, a store frees nothing of its own.
    """

    def length(self, seq: Sequence) -> int:
        """Tokens of the sequence whose keys and values are stored in all layers; 0 if unknown. Pure."""

    def write(self, layer: int, seq: Sequence, keys: np.ndarray, values: np.ndarray) -> None:
        """Stores new tokens of one layer behind the `length(seq)` first; does not count them yet.

        Args:
            layer: from 0.
            seq: whose tokens they are.
            keys, values: (tokens, num_kv_heads, head_dim), keys already turned by their position.

        Raises:
            ValueError: the sequence has no room for them.
        """

    def attend(self, layer: int, seq: Sequence, queries: np.ndarray) -> np.ndarray:
        """Causal attention of the tokens just written over all tokens up to each. Pure.

        Args:
            layer: from 0.
            seq: whose keys are read.
            queries: (tokens, num_heads, head_dim), for positions length(seq), length(seq) + 1, …

        Returns:
            (tokens, num_heads, head_dim).
        """

    def advance(self, seq: Sequence, num_tokens: int) -> None:
        """Counts `num_tokens` tokens that every layer has written."""

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """The child begins with the parent's tokens; afterwards each goes its own way."""

    def forget(self, seq: Sequence) -> None:
        """The sequence finished, or must compute all its tokens again. No error if unknown."""
