"""Very many integers, 8 bytes each, and their exact percentiles: no list of all of them is ever made."""

from array import array
from bisect import bisect_right

from pycore.metrics import Spread

CHUNK = 1 << 15  # samples that are sorted at a time


class Samples:
    """Integers of 64 bits that are added one by one.

    Kept in pieces, each of which is sorted once it is full. The sample of some rank is the smallest number
    that so many samples do not exceed; how many that are is looked up in each piece.

    Attributes:
        append: adds one; callers see to it that `close_piece` is called every `CHUNK` of them or so.

    >>> samples = Samples()
    >>> for value in (3, 1, 2):
    ...     samples.append(value)
    >>> samples.spread()
    Spread(mean=2.0, p50=2, p90=3, p99=3, max=3)
    """

    __slots__ = ("_open", "_sorted", "append")

    def __init__(self) -> None:
        """None yet."""
        self._sorted: list[array] = []
        self._begin_piece()

    def _begin_piece(self) -> None:
        self._open = array("q")
        self.append = self._open.append  # not a method: it is called a few times a request

    def close_piece(self) -> None:
        """Sorts what was added since the last time."""
        if self._open:
            self._sorted.append(array("q", sorted(self._open)))
            self._begin_piece()

    def __len__(self) -> int:
        return len(self._open) + sum(map(len, self._sorted))

    def at(self, percents: range | tuple[int, ...]) -> list[int]:
        """The nearest-rank percentiles, see `metrics.percentile`; none of no samples.

        >>> samples = Samples()
        >>> for value in (15, 20, 35, 40, 50):
        ...     samples.append(value)
        ...     samples.close_piece()
        >>> samples.at((0, 30, 40, 50, 100))
        [15, 20, 20, 35, 50]
        """
        num = len(self)
        pieces = [*self._sorted, sorted(self._open)] if self._open else self._sorted
        return [_at_rank(pieces, max(1, -(-percent * num // 100))) for percent in percents] if num else []

    def spread(self) -> Spread:
        """How they are distributed, see `metrics.spread`."""
        if not len(self):
            return Spread(0.0, 0, 0, 0, 0)
        total = sum(self._open) + sum(map(sum, self._sorted))
        return Spread(total / len(self), *self.at((50, 90, 99, 100)))


def _at_rank(pieces: list, rank: int) -> int:
    """The sample of a rank, from 1 on, in sorted pieces of which none is empty."""
    if len(pieces) == 1:
        return pieces[0][rank - 1]
    low, high = min(piece[0] for piece in pieces), max(piece[-1] for piece in pieces)
    while low < high:
        middle = (low + high) // 2
        if sum([bisect_right(piece, middle) for piece in pieces]) >= rank:
            high = middle
        else:
            low = middle + 1
    return low
