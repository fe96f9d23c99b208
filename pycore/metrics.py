"""Figures of a run, computed from what it left behind. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass


def percentile(ordered: Sequence[int], percent: int) -> int:
    """The nearest-rank percentile: the smallest value that `percent` % of all do not exceed.

    Args:
        ordered: values in ascending order, at least one.
        percent: 1 to 100.

    >>> [percentile([10, 20, 30, 40], p) for p in (25, 50, 90, 99)]
    [10, 20, 40, 40]
    """
    return ordered[-(-len(ordered) * percent // 100) - 1]


@dataclass(frozen=True, slots=True)
class Spread:
    """How a quantity is distributed; all 0 where there is nothing to measure.

    Attributes:
        mean: arithmetic mean.
        p50, p90, p99: nearest-rank percentiles.
        max: the largest.
    """

    mean: float
    p50: int
    p90: int
    p99: int
    max: int


def spread(values: Sequence[int]) -> Spread:
    """The spread of `values`, in their unit.

    >>> spread([3, 1, 2])
    Spread(mean=2.0, p50=2, p90=3, p99=3, max=3)
    """
    if not values:
        return Spread(0.0, 0, 0, 0, 0)
    ordered = sorted(values)
    p50, p90, p99 = (percentile(ordered, percent) for percent in (50, 90, 99))
    return Spread(sum(ordered) / len(ordered), p50, p90, p99, ordered[-1])
