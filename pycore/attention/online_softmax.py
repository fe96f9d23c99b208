"""Softmax over pieces: a running maximum and a running sum instead of all scores at once.

When a piece brings a larger maximum, what was summed so far is scaled down by exp(old − new); at the end the
sum divides. Nothing but rounding differs from the softmax of the whole row (Milakov & Gimelshein 2018;
FlashAttention, algorithm 1).
"""

import numpy as np


class OnlineSoftmax:
    """Σ softmax(scores) · values for many rows, fed piece by piece.

    Attributes:
        maximum: (..., rows) largest score seen; before any, the lowest finite number. Not −inf: a row that
            may see nothing yet would then subtract −inf from −inf.
        total: (..., rows) Σ exp(score − maximum).
        weighted: (..., rows, dim) Σ exp(score − maximum) · value.
        rescale: (..., rows) what the last piece multiplied `total` and `weighted` by: exp(old − new maximum).

    >>> softmax = OnlineSoftmax((1, 1), "float64")
    >>> softmax.update(np.array([[0.0, 1.0]]), np.array([[1.0], [1.0]]))
    >>> softmax.update(np.array([[2.0]]), np.array([[1.0]]))
    >>> round(float(softmax.rescale[0]), 4), softmax.result().round(12).tolist()
    (0.3679, [[1.0]])
    """

    __slots__ = ("maximum", "rescale", "total", "weighted")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype | str) -> None:
        """Nothing seen yet; `shape` is (..., rows, dim) of the result."""
        self.maximum = np.full(shape[:-1], np.finfo(dtype).min, dtype)
        self.total = np.zeros(shape[:-1], dtype)
        self.weighted = np.zeros(shape, dtype)
        self.rescale = np.ones(shape[:-1], dtype)

    def update(self, scores: np.ndarray, values: np.ndarray) -> None:
        """Takes in one piece.

        Args:
            scores: (..., rows, keys), −inf where a row must not look, else within ±1e30; overwritten by
                exp(score − maximum).
            values: (..., keys, dim).
        """
        maximum = np.maximum(self.maximum, scores.max(axis=-1))
        self.rescale = np.exp(self.maximum - maximum)
        np.subtract(scores, maximum[..., None], out=scores)
        np.exp(scores, out=scores)
        self.total *= self.rescale
        self.total += scores.sum(axis=-1)
        self.weighted *= self.rescale[..., None]
        self.weighted += scores @ values
        self.maximum = maximum

    def result(self) -> np.ndarray:
        """(..., rows, dim); zeros in a row that saw no key."""
        return self.weighted / np.where(self.total == 0, 1, self.total)[..., None]


def softmax(scores: np.ndarray) -> np.ndarray:
    """The plain softmax of whole rows.

    Args:
        scores: (..., keys), −inf where a row must not look.

    Returns:
        (..., keys), each row adding up to 1; zeros in a row that may look nowhere.
    """
    maximum = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(maximum == -np.inf, 0, maximum))
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
