"""One query against scattered blocks, written down step by step: what the attention lab draws."""

import numpy as np

from pycore.attention.grouped_query import group, score
from pycore.attention.kv_store import KVStore
from pycore.attention.online_softmax import OnlineSoftmax, softmax
from pycore.attention.paged_store import PagedStore
from pycore.request import Sequence


class QueryTap:
    """A KVStore that keeps the last query of each layer and sequence on its way to another store."""

    def __init__(self, store: KVStore) -> None:
        """Passes everything on to `store`."""
        self.store = store
        self._queries: dict[tuple[int, int], np.ndarray] = {}
        self.length = store.length
        self.write = store.write
        self.advance = store.advance
        self.fork = store.fork
        self.forget = store.forget

    def attend(self, layer: int, seq: Sequence, queries: np.ndarray) -> np.ndarray:
        """See KVStore."""
        self._queries[layer, seq.id] = queries[-1].copy()
        return self.store.attend(layer, seq, queries)

    def last_query(self, layer: int, seq: Sequence) -> np.ndarray:
        """(num_heads, head_dim) of the newest token.

        Raises:
            KeyError: the sequence has not attended in that layer.
        """
        return self._queries[layer, seq.id]


def trace_query(store: PagedStore, layer: int, seq: Sequence, query: np.ndarray, head: int) -> dict:
    """Attention of the newest token of a sequence in one head, tile by tile.

    The same tiles, scores and online softmax as `PagedStore.attend`, so the picture shows what was computed.

    Args:
        store: read only; its `tile_blocks` sets how much a step shows.
        layer: from 0.
        seq: its `store.length(seq)` tokens are looked at.
        query: (num_heads, head_dim) of its last token, from `QueryTap.last_query`.
        head: query head, from 0.

    Returns:
        Plain lists and numbers:
        kv_head, length: which KV head serves the query, and tokens looked at.
        tiles: one dict a step, in the order of reading:
            first: position of its first token; blocks: physical block numbers; scores: one a token;
            maximum, total: running maximum and running sum after it; rescale: what it multiplied the earlier
            sum and output by; weights: exp(score − maximum) of its tokens at that moment, not yet divided;
            output: (head_dim) of the tokens so far, divided by the running sum.
        weights: one a token, adding up to 1, from the final maximum and sum.
        output: (head_dim).
        dense_weights, dense_output: the same from one plain softmax over all tokens gathered.
    """
    length = store.length(seq)
    num_kv_heads = store.blocks.keys.shape[3]
    kv_head = head // (len(query) // num_kv_heads)
    row = group(query[None], num_kv_heads)[kv_head, head % (len(query) // num_kv_heads)]  # (head_dim,)
    rows = row[None, None]  # (1, 1, head_dim): one KV head, one query
    merged = OnlineSoftmax(rows.shape, rows.dtype)
    tiles, all_scores, all_values = [], [], []
    for tile in store.tiles(layer, seq, length):
        keys, values = tile.keys[:, [kv_head]], tile.values[:, [kv_head]]  # (tile, 1, head_dim)
        scores = score(rows, keys, tile.first, length - 1, 1)  # (1, 1, tile)
        weights = scores.copy()
        merged.update(weights, values.transpose(1, 0, 2))  # leaves exp(score − maximum) in `weights`
        all_scores.append(scores[0, 0])
        all_values.append(values[:, 0])
        tiles.append(
            {
                "first": tile.first,
                "blocks": tile.blocks.tolist(),
                "scores": scores[0, 0].tolist(),
                "maximum": float(merged.maximum[0, 0]),
                "total": float(merged.total[0, 0]),
                "rescale": float(merged.rescale[0, 0]),
                "weights": weights[0, 0].tolist(),
                "output": merged.result()[0, 0].tolist(),
            }
        )
    scores = np.concatenate(all_scores)  # (length,)
    dense_weights = softmax(scores)  # (length,)
    return {
        "kv_head": kv_head,
        "length": length,
        "tiles": tiles,
        "weights": (np.exp(scores - merged.maximum[0, 0]) / merged.total[0, 0]).tolist(),
        "output": merged.result()[0, 0].tolist(),
        "dense_weights": dense_weights.tolist(),
        "dense_output": (dense_weights @ np.concatenate(all_values)).tolist(),
    }
