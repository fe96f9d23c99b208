"""A decoder-only transformer in the manner of Llama, small enough to run in a browser."""

from collections.abc import Iterable
from collections.abc import Sequence as Numbers

import numpy as np

from pycore.attention.kv_store import KVStore
from pycore.attention.rotary import rotate
from pycore.attention.weights import LayerWeights, TransformerShape, make_weights
from pycore.request import Sequence

_EPSILON = 2.0**-20  # keeps the norm of a zero vector finite


class Transformer:
    """RMSNorm, rotary positions, grouped-query attention, gated MLP; its only state is its weights.

    Attributes:
        shape: sizes.
    """

    def __init__(self, shape: TransformerShape | None = None, seed: int = 0) -> None:
        """Makes the weights of `seed`, the same everywhere."""
        self.shape = shape or TransformerShape()
        self._weights = make_weights(self.shape, seed)

    def forward(self, batch: Iterable[tuple[Sequence, Numbers[int]]], store: KVStore) -> np.ndarray:
        """One iteration: prefills and decodes of any sequences together.

        All tokens of the batch go through the matrices as rows of one product; only attention looks at one
        sequence at a time (Orca's selective batching).

        Args:
            batch: each sequence once, with the ids of its tokens that follow the `store.length(seq)` stored
                ones: the whole prompt for a prefill, one for a decode.
            store: gains the tokens' keys and values, and counts them.

        Returns:
            (sequences, vocab_size) logits of the token that follows each sequence.

        Raises:
            ValueError: an empty batch, a sequence twice or without tokens, an id outside the vocabulary, or
                no room in the store.
        """
        batch = [(seq, list(tokens)) for seq, tokens in batch]
        self._validate(batch)
        counts = [len(tokens) for _, tokens in batch]
        ends = np.cumsum(counts)  # (sequences,)
        rows = [slice(int(end) - count, int(end)) for end, count in zip(ends, counts, strict=True)]
        positions = np.concatenate(
            [np.arange(count) + store.length(seq) for (seq, _), count in zip(batch, counts, strict=True)]
        )  # (tokens,)
        ids = np.concatenate([tokens for _, tokens in batch])  # (tokens,)

        stream = self._weights.embedding[ids]  # (tokens, width)
        for layer, weights in enumerate(self._weights.layers):
            queries, keys, values = self._project(weights, stream, positions)
            attended = np.empty_like(queries)  # (tokens, num_heads, head_dim)
            for (seq, _), own in zip(batch, rows, strict=True):
                store.write(layer, seq, keys[own], values[own])
                attended[own] = store.attend(layer, seq, queries[own])
            stream = stream + attended.reshape(len(ids), -1) @ weights.out
            stream = stream + _gated_mlp(weights, stream)
        for (seq, _), count in zip(batch, counts, strict=True):
            store.advance(seq, count)
        last = stream[ends - 1]  # (sequences, width)
        return _rms_norm(last, self._weights.norm) @ self._weights.head

    def _project(
        self, weights: LayerWeights, stream: np.ndarray, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Queries (tokens, num_heads, head_dim), keys and values (tokens, num_kv_heads, head_dim)."""
        shape, tokens = self.shape, len(stream)
        normed = _rms_norm(stream, weights.attention_norm)  # (tokens, width)
        queries = (normed @ weights.query).reshape(tokens, shape.num_heads, shape.head_dim)
        keys = (normed @ weights.key).reshape(tokens, shape.num_kv_heads, shape.head_dim)
        values = (normed @ weights.value).reshape(tokens, shape.num_kv_heads, shape.head_dim)
        return rotate(queries, positions), rotate(keys, positions), values

    def _validate(self, batch: list[tuple[Sequence, list[int]]]) -> None:
        if not batch:
            raise ValueError("an iteration needs at least one sequence")
        if len({seq.id for seq, _ in batch}) < len(batch):
            raise ValueError(f"a sequence stands twice in the batch {[seq.id for seq, _ in batch]}")
        for seq, tokens in batch:
            if not tokens:
                raise ValueError(f"r{seq.id}: an iteration needs at least 1 token of it")
            if not all(0 <= token < self.shape.vocab_size for token in tokens):
                raise ValueError(
                    f"r{seq.id}: token ids must be 0 to {self.shape.vocab_size - 1}, not {tokens}"
                )


def _rms_norm(stream: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """(tokens, width) divided by each token's root mean square, times gain (width,)."""
    mean_square = np.square(stream).mean(axis=-1, keepdims=True)  # (tokens, 1)
    return stream / np.sqrt(mean_square + stream.dtype.type(_EPSILON)) * gain


def _gated_mlp(weights: LayerWeights, stream: np.ndarray) -> np.ndarray:
    """(tokens, width) -> (tokens, width): down(silu(gate(x)) · up(x)), as in Llama."""
    normed = _rms_norm(stream, weights.mlp_norm)  # (tokens, width)
    gate = normed @ weights.gate  # (tokens, ff_dim)
    return (gate / (1 + np.exp(-gate)) * (normed @ weights.up)) @ weights.down
