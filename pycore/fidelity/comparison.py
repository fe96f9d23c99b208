"""Predicted against measured: a table of errors, and the goals they are held to."""

from collections.abc import Sequence
from dataclasses import dataclass

from pycore.fidelity.measured_run import Load, Outcome, mean_load

STATISTICS = ("mean", "p50", "p99")
# Quantity and statistic → error at most, in percent, on a run that was not fitted.
GOALS = {("ttft", "mean"): 15, ("tpot", "mean"): 10, ("makespan", "total"): 10}


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of a run.

    Attributes:
        quantity: "ttft", "tpot", "end_to_end" or "makespan" (ns), "throughput" (output tokens a second),
            "running" or "waiting" (sequences).
        statistic: one of STATISTICS, or "total".
        measured, predicted: the figure.
    """

    quantity: str
    statistic: str
    measured: float
    predicted: float

    @property
    def error(self) -> float | None:
        """Predicted over measured, in percent with one digit; None where nothing was measured."""
        return round(100 * (self.predicted / self.measured - 1), 1) if self.measured else None

    @property
    def goal(self) -> int | None:
        """The error that it may have, in percent; None where none is set."""
        return GOALS.get((self.quantity, self.statistic))

    @property
    def reached(self) -> bool | None:
        """Whether it is within its goal; None where there is none."""
        if self.goal is None or self.error is None:
            return None
        return abs(self.error) <= self.goal


def compare(measured: Outcome, predicted: Outcome) -> list[Compared]:
    """All figures of a run, the latencies first."""
    rows = []
    told = predicted.spreads()
    for quantity, true in measured.spreads().items():
        for statistic in STATISTICS:
            pair = (getattr(each, statistic) for each in (true, told[quantity]))
            rows.append(Compared(quantity, statistic, *pair))
    rows.append(Compared("makespan", "total", measured.makespan_ns, predicted.makespan_ns))
    speeds = (measured.tokens_per_second, predicted.tokens_per_second)
    rows.append(Compared("throughput", "total", *speeds))
    if measured.time_line:
        pairs = zip(mean_load(measured.time_line), mean_load(predicted.time_line), strict=True)
        for quantity, pair in zip(("running", "waiting"), pairs, strict=True):
            rows.append(Compared(quantity, "mean", *pair))
    return rows


def overlaid(lines: Sequence[Sequence[Load]], points: int) -> tuple[list[int], list[list[tuple[int, int]]]]:
    """Time lines of a load for each second on one axis of at most `points` positions.

    Returns:
        Seconds, and of each line (running, waiting) at each of them; a line that has ended is at 0.
    """
    longest = max((len(line) for line in lines), default=0)
    every = max(1, -(-longest // points))
    at = list(range(0, longest, every))
    values = [[(line[i].running, line[i].waiting) if i < len(line) else (0, 0) for i in at] for line in lines]
    return [i + 1 for i in at], values
