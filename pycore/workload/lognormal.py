"""Lengths with a heavy tail, the same integers on every platform."""

from dataclasses import dataclass
from math import exp

from pycore.rng import Rng


def lognormal(rng: Rng, median: float, sigma: float) -> int:
    """A lognormal length in tokens, not clipped.

    The normal variate is the sum of twelve uniform ones less six, and the length is rounded on the line that
    computes it, so that every platform returns the same integers.
    """
    normal = sum(rng.getrandbits(32) for _ in range(12)) / 2**32 - 6
    return round(median * exp(sigma * normal))


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long prompts or outputs are.

    Attributes:
        mean: tokens, before clipping.
        sigma: shape: how skewed they are.
        shortest, longest: clipped to, in tokens; None: as long as they come.
    """

    mean: int
    sigma: float
    shortest: int = 1
    longest: int | None = None

    def draw(self, rng: Rng) -> int:
        """A length in tokens."""
        length = max(self.shortest, lognormal(rng, self.mean * exp(-self.sigma * self.sigma / 2), self.sigma))
        return length if self.longest is None else min(self.longest, length)
