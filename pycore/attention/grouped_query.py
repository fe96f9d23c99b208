"""Attention with fewer KV heads than query heads: over one tile of keys, and over all at once.

Query heads h · group_size … (h + 1) · group_size − 1 read KV head h (Ainslie et al. 2023, GQA). They are laid
out as more rows of that head, so one matrix product serves them all and no key is repeated.
"""

from math import sqrt

import numpy as np

from pycore.attention.online_softmax import softmax


def group(queries: np.ndarray, num_kv_heads: int) -> np.ndarray:
    """Rows of queries by KV head, divided by √head_dim.

    Args:
        queries: (tokens, num_heads, head_dim).
        num_kv_heads: divides num_heads.

    Returns:
        (num_kv_heads, group_size · tokens, head_dim); row r belongs to token r % tokens.
    """
    tokens, num_heads, head_dim = queries.shape
    by_head = queries.reshape(tokens, num_kv_heads, num_heads // num_kv_heads, head_dim)
    rows = by_head.transpose(1, 2, 0, 3).reshape(num_kv_heads, -1, head_dim)
    return rows / queries.dtype.type(sqrt(head_dim))


def ungroup(rows: np.ndarray, tokens: int) -> np.ndarray:
    """The inverse layout of `group`.

    Args:
        rows: (num_kv_heads, group_size · tokens, head_dim).
        tokens: how many tokens the rows belong to.

    Returns:
        (tokens, num_heads, head_dim).
    """
    num_kv_heads, num_rows, head_dim = rows.shape
    by_group = rows.reshape(num_kv_heads, num_rows // tokens, tokens, head_dim)
    return by_group.transpose(2, 0, 1, 3).reshape(tokens, -1, head_dim)


def score(rows: np.ndarray, keys: np.ndarray, first_key: int, first_query: int, tokens: int) -> np.ndarray:
    """Scores of a run of keys; −inf where a query would look into its future.

    Args:
        rows: (num_kv_heads, group_size · tokens, head_dim), from `group`.
        keys: (keys, num_kv_heads, head_dim) at positions first_key, first_key + 1, …
        first_key: position of the first key.
        first_query: position of the first query.
        tokens: queries at positions first_query, first_query + 1, …

    Returns:
        (num_kv_heads, group_size · tokens, keys).
    """
    scores = rows @ keys.transpose(1, 2, 0)
    if first_key + len(keys) - 1 > first_query:
        key_at = np.arange(first_key, first_key + len(keys))  # (keys,)
        query_at = first_query + np.arange(rows.shape[1]) % tokens  # (rows,)
        scores[:, key_at > query_at[:, None]] = -np.inf
    return scores


def attend_at_once(queries: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Causal attention over keys in one piece: the contiguous kernel, and the reference for the tiled one.

    Args:
        queries: (tokens, num_heads, head_dim) of the last `tokens` positions.
        keys, values: (length, num_kv_heads, head_dim), position 0 first.

    Returns:
        (tokens, num_heads, head_dim).
    """
    tokens = len(queries)
    rows = group(queries, keys.shape[1])
    weights = softmax(score(rows, keys, 0, len(keys) - tokens, tokens))  # (num_kv_heads, rows, length)
    return ungroup(weights @ values.transpose(1, 0, 2), tokens)
