"""The largest rate of requests that an engine sustains: found by bisection.

A rate is sustained if at least a given share of the requests get what was promised. The share falls as the
rate grows, but for the luck of single requests; so the search narrows an interval whose lower end is
sustained and whose upper end is not, until it is as narrow as asked for.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from pycore.replay_result import ReplayResult

PER_MILLE = 1000

# Yields a rate to try, in thousandths, and is sent what came of it.
Search = Generator[int, ReplayResult, "LargestRate"]


@dataclass(frozen=True, slots=True)
class Probe:
    """One rate that was tried.

    Attributes:
        rate: requests a second, in thousandths.
        attainment: share of the requests for which the SLO was met, 0 to 1.
        sustained: whether that was enough.
        result: the run.
    """

    rate: int
    attainment: float
    sustained: bool
    result: ReplayResult


@dataclass(frozen=True, slots=True)
class LargestRate:
    """What a search found.

    Attributes:
        rate: the largest rate that was sustained, requests a second in thousandths; 0: not even the smallest
            that was tried.
        below: the smallest rate above it that was not; None: the largest that was allowed is sustained.
        share: of the requests that had to get what was promised, in thousandths.
        probes: all rates that were tried, ascending.
        steady: whether no rate was sustained above one that was not. If not, luck decided near the limit,
            and another load would move it.
    """

    rate: int
    below: int | None
    share: int
    probes: tuple[Probe, ...]

    @property
    def steady(self) -> bool:
        """See the class."""
        verdicts = [probe.sustained for probe in self.probes]
        return verdicts == sorted(verdicts, reverse=True)

    @property
    def best_attainment(self) -> float:
        """The largest share that was met at any rate: how far one is from the promise if none will do."""
        return max(probe.attainment for probe in self.probes)

    def __str__(self) -> str:
        if not self.rate:
            lowest = self.probes[0]
            return (
                f"no rate meets the SLO: at {lowest.rate / PER_MILLE:g} requests/s, the lowest tried, "
                f"only {lowest.attainment:.1%} are inside it, expected {self.share / PER_MILLE:.1%}"
            )
        if self.below is None:
            return f"at least {self.rate / PER_MILLE:g} requests/s: the highest rate tried is sustained"
        return f"{self.rate / PER_MILLE:g} requests/s, less than {self.below / PER_MILLE:g}"


def rates_to_try(
    *,
    lowest: int = 10,
    highest: int = 1_000_000,
    start: int = 1000,
    tolerance: int = 20,
    share: int = 900,
) -> Search:
    """Looks for the largest rate; rates and shares are in thousandths.

    Doubles or halves from `start` until it has a rate that is sustained and one that is not, then halves the
    interval between them.

    Args:
        lowest, highest: rates that are tried at most.
        start: the first rate that is tried.
        tolerance: the interval is at most this share of its lower end, in thousandths, or one thousandth of
            a request a second.
        share: of the requests must have got what was promised; those that hang have not.

    Yields:
        A rate; to be sent the result of the load at this rate, with an SLO.

    Returns:
        What was found.

    Raises:
        ValueError: a rate below 1 thousandth, an empty range, or a share or tolerance that makes no sense.
    """
    if not 1 <= lowest <= start <= highest:
        raise ValueError(
            f"rates of {lowest}, {start} and {highest} thousandths, expected 1 or more, ascending"
        )
    if not 1 <= share <= PER_MILLE or tolerance < 1:
        raise ValueError(f"share {share} and tolerance {tolerance}, expected 1 to 1000 and at least 1")
    probes: dict[int, Probe] = {}

    def is_enough(rate: int, result: ReplayResult) -> bool:
        enough = result.num_in_slo * PER_MILLE >= share * result.num_judged
        probes[rate] = Probe(rate, result.attainment, enough, result)
        return enough

    good, bad, rate = 0, None, start
    while True:
        if is_enough(rate, (yield rate)):
            good = rate
            if bad is not None or rate == highest:
                break
            rate = min(highest, 2 * rate)
        else:
            bad = rate
            if good or rate == lowest:
                break
            rate = max(lowest, rate // 2)
    while good and bad is not None and bad - good > max(1, good * tolerance // PER_MILLE):
        rate = (good + bad) // 2
        if is_enough(rate, (yield rate)):
            good = rate
        else:
            bad = rate
    return LargestRate(good, bad, share, tuple(probes[rate] for rate in sorted(probes)))


def largest_rate(replay_at: Callable[[int], ReplayResult], **limits: int) -> LargestRate:
    """Runs the load at each of `rates_to_try`.

    Args:
        replay_at: runs it at a rate (thousandths of requests a second), with an SLO.
        limits: see `rates_to_try`.
    """
    search = rates_to_try(**limits)
    rate = next(search)
    while True:
        try:
            rate = search.send(replay_at(rate))
        except StopIteration as end:
            return end.value
