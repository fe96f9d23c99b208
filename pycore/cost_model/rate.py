"""Amounts to nanoseconds, rounded once a step, and the same summed over many steps."""

from itertools import repeat
from math import gcd
from operator import floordiv

_FEW = 24  # steps that are added up one by one in less time than it takes to find their sum


class Rate:
    """So much a second, as an exact fraction.

    Attributes:
        num, den: an amount takes floor(amount · num / den) ns.
    """

    __slots__ = ("den", "num")

    def __init__(self, per_second: int, thousandths: int = 1000) -> None:
        """A rate.

        Args:
            per_second: amount a second by the data sheet.
            thousandths: of it that are reached.
        """
        num, den = 10**9 * 1000, per_second * thousandths
        common = gcd(num, den)
        self.num = num // common
        self.den = den // common

    def ns(self, amount: int) -> int:
        """Time of `amount`, rounded down to a nanosecond.

        >>> Rate(2 * 10**9).ns(5)
        2
        """
        return amount * self.num // self.den


def floor_sum(steps: int, m: int, a: int, b: int) -> int:
    """The sum of floor((a·i + b) / m) for i from 0 below `steps`; a, b ≥ 0, m ≥ 1.

    Counts the points of a lattice below a line, as Euclid's algorithm goes: each turn swaps the axes.

    >>> floor_sum(4, 3, 2, 1) == sum((2 * i + 1) // 3 for i in range(4))
    True
    """
    if steps < _FEW:
        return sum(map(floordiv, range(b, b + a * steps, a), repeat(m))) if a else steps * (b // m)
    total = 0
    while steps > 0:
        total += steps * (steps - 1) // 2 * (a // m) + steps * (b // m)
        a, b = a % m, b % m
        top = a * steps + b
        if top < m:
            break
        steps, b = divmod(top, m)
        m, a = a, m
    return total
