"""Means of a run over time, in memory that does not grow with it."""

from collections.abc import Callable
from collections.abc import Sequence as Series
from operator import add

MAX_POINTS = 512  # of a time line; twice as many are merged in pairs


class TimeLine:
    """Means of a few series over equal stretches of steps; memory is bounded however long the run is.

    Attributes:
        num_open: steps that the last point still takes; 0: the next one begins a new point.

    >>> line = TimeLine(("running",), max_points=2)
    >>> for step in range(8):
    ...     line.add(step, (step,))
    >>> line.columns()
    {'now_ns': [0, 4], 'running': [1.5, 5.5]}
    """

    def __init__(self, names: Series[str], max_points: int = MAX_POINTS) -> None:
        """An empty line of at most `max_points` points, an even number; `names` of the series."""
        self._names = tuple(names)
        self._max_points = max_points
        self.num_open = 0
        self._stride = 1  # steps a point
        self._starts: list[int | Callable[[], int]] = []
        self._sums: list[list[int]] = []

    def add(self, start: int | Callable[[], int], sums: Series[int], num_steps: int = 1) -> None:
        """Adds steps that lie in one point, see `num_open` and `num_new`.

        Args:
            start: when the first of them began (ns), or who knows it: nobody is asked of points that have
                been merged away by the time the line is looked at.
            sums: of each series over these steps, in the order of the names.
            num_steps: how many.
        """
        if self.num_open:
            self._sums[-1] = list(map(add, self._sums[-1], sums))
            self.num_open -= num_steps
            return
        if len(self._sums) == self._max_points:
            self._sums = [
                list(map(add, *pair)) for pair in zip(self._sums[::2], self._sums[1::2], strict=True)
            ]
            self._starts = self._starts[::2]
            self._stride *= 2
        self._starts.append(start)
        self._sums.append(list(sums))
        self.num_open = self._stride - num_steps

    @property
    def num_new(self) -> int:
        """The most steps that a new point takes."""
        return 2 * self._stride if len(self._sums) == self._max_points else self._stride

    def totals(self) -> list[int]:
        """The sum of each series over all steps."""
        return [sum(sums) for sums in zip(*self._sums, strict=True)] or [0] * len(self._names)

    def columns(self) -> dict[str, list]:
        """When each point begins (ns), and the mean of each series in it."""
        steps = [self._stride] * len(self._sums)
        if steps:
            steps[-1] -= self.num_open
        series = {
            name: [sums[i] / n for sums, n in zip(self._sums, steps, strict=True)]
            for i, name in enumerate(self._names)
        }
        self._starts = [start() if callable(start) else start for start in self._starts]
        return {"now_ns": list(self._starts), **series}
