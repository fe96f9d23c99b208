"""The shape of the transformer, and weights that are the same on every platform."""

from dataclasses import dataclass
from math import isqrt

import numpy as np

from pycore.rng import Rng

# A weight is (popcount of 16 random bits − 8), an integer of standard deviation 2, times a 12-bit factor over
# 2**12: 5 + 12 significant bits, so float32 holds it exactly and no rounding can differ between platforms.
_BITS = 16
_DEVIATION = 2
_FACTOR_UNIT = 1 << 12


@dataclass(frozen=True, slots=True)
class TransformerShape:
    """Sizes of a decoder-only transformer with grouped-query attention.

    Attributes:
        num_layers: transformer blocks.
        num_heads: query heads.
        num_kv_heads: key and value heads; each serves num_heads / num_kv_heads query heads.
        head_dim: numbers a head, even because rotary positions turn pairs.
        ff_dim: hidden width of the gated MLP.
        vocab_size: token ids are 0 … vocab_size − 1.
        dtype: of weights, activations and KV, "float32" or "float64".

    Raises:
        ValueError: a size below 1, an odd head_dim, heads that do not group, or another dtype.
    """

    num_layers: int = 2
    num_heads: int = 4
    num_kv_heads: int = 2
    head_dim: int = 8
    ff_dim: int = 64
    vocab_size: int = 64
    dtype: str = "float32"

    def __post_init__(self) -> None:
        sizes = (self.num_layers, self.num_heads, self.num_kv_heads, self.ff_dim, self.vocab_size)
        if min(sizes) < 1 or self.head_dim < 2 or self.head_dim % 2:
            raise ValueError(f"{self}: sizes must be at least 1 and head_dim even")
        if self.num_heads % self.num_kv_heads:
            raise ValueError(f"{self.num_heads} query heads do not group over {self.num_kv_heads} KV heads")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype {self.dtype!r}: expected float32 or float64")

    @property
    def width(self) -> int:
        """Numbers in the residual stream: num_heads · head_dim."""
        return self.num_heads * self.head_dim

    @property
    def group_size(self) -> int:
        """Query heads that share one KV head."""
        return self.num_heads // self.num_kv_heads


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One transformer block; a matrix maps its first axis to its second."""

    attention_norm: np.ndarray  # (width,)
    query: np.ndarray  # (width, num_heads * head_dim)
    key: np.ndarray  # (width, num_kv_heads * head_dim)
    value: np.ndarray  # (width, num_kv_heads * head_dim)
    out: np.ndarray  # (num_heads * head_dim, width)
    mlp_norm: np.ndarray  # (width,)
    gate: np.ndarray  # (width, ff_dim)
    up: np.ndarray  # (width, ff_dim)
    down: np.ndarray  # (ff_dim, width)


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights of a transformer."""

    embedding: np.ndarray  # (vocab_size, width)
    layers: tuple[LayerWeights, ...]
    norm: np.ndarray  # (width,)
    head: np.ndarray  # (width, vocab_size)


def integers(rng: Rng, *dims: int) -> np.ndarray:
    """Bell-shaped integers −8 … 8 of mean 0 and standard deviation 2.

    Args:
        rng: a stream used for nothing else.
        dims: shape of the answer.

    Returns:
        int64 of shape `dims`.
    """
    count = int(np.prod(dims))
    bits = rng.getrandbits(count * _BITS).to_bytes(count * _BITS // 8, "little")
    ones = np.unpackbits(np.frombuffer(bits, np.uint8)).reshape(*dims, _BITS)  # (*dims, 16) of 0 or 1
    return ones.sum(axis=-1, dtype=np.int64) - _BITS // 2


def make_weights(shape: TransformerShape, seed: int = 0) -> Weights:
    """Fixed weights: the same numbers, bit for bit, wherever Python runs.

    Matrices keep the scale of what passes through them (deviation 1 / √inputs); queries are larger, so
    that attention prefers some positions. Logits come out with a deviation near 1, and the best
    leads the second by about 0.3 in the median: 100,000 times the rounding noise of float32.
    """
    rng = Rng(seed)

    def matrix(name: str, inputs: int, outputs: int, gain: int = 1) -> np.ndarray:
        factor = gain * _FACTOR_UNIT // (_DEVIATION * max(1, isqrt(inputs)))
        return (integers(rng.fork(name), inputs, outputs) * factor / _FACTOR_UNIT).astype(shape.dtype)

    def norm(name: str) -> np.ndarray:
        return (1 + integers(rng.fork(name), shape.width) / 32).astype(shape.dtype)

    def layer(at: int) -> LayerWeights:
        width, kv_width = shape.width, shape.num_kv_heads * shape.head_dim
        return LayerWeights(
            attention_norm=norm(f"{at}/attention_norm"),
            query=matrix(f"{at}/query", width, width, gain=2),
            key=matrix(f"{at}/key", width, kv_width),
            value=matrix(f"{at}/value", width, kv_width),
            out=matrix(f"{at}/out", width, width),
            mlp_norm=norm(f"{at}/mlp_norm"),
            gate=matrix(f"{at}/gate", width, shape.ff_dim),
            up=matrix(f"{at}/up", width, shape.ff_dim),
            down=matrix(f"{at}/down", shape.ff_dim, width),
        )

    return Weights(
        embedding=(integers(rng.fork("embedding"), shape.vocab_size, shape.width) / _DEVIATION).astype(
            shape.dtype
        ),
        layers=tuple(layer(at) for at in range(shape.num_layers)),
        norm=norm("norm"),
        head=matrix("head", shape.width, shape.vocab_size),
    )
