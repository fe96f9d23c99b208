"""Rotary positions: a query and a key are turned by angles that grow with their position.

What is left in their product is the distance alone, so a key is stored turned, once, and never touched again
when the sequence grows (Su et al. 2021, RoFormer, section 3.2).
"""

import numpy as np

_BASE = 10_000.0  # RoFormer's wavelengths: 2π · base^(2i / head_dim) tokens


def rotate(heads: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Turns each head's vector by its token's position.

    Args:
        heads: (tokens, heads, head_dim); halves i and i + head_dim / 2 form a pair, as in Llama.
        positions: (tokens,) integers, 0 for the first token of a sequence.

    Returns:
        (tokens, heads, head_dim) of the same dtype.
    """
    half = heads.shape[-1] // 2
    turns = _BASE ** (-np.arange(half) / half)  # (half,) radians a token, float64 until the last moment
    angles = positions[:, None, None] * turns  # (tokens, 1, half)
    cos, sin = np.cos(angles).astype(heads.dtype), np.sin(angles).astype(heads.dtype)
    first, second = heads[..., :half], heads[..., half:]  # (tokens, heads, half) each
    return np.concatenate((first * cos - second * sin, second * cos + first * sin), axis=-1)
