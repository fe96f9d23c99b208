"""Efficiency factors from one measured run: a line through the times of its requests.

While the schedule stays as it is, all that happens takes compute / mfu + traffic / mbu + the rest: a sum over
the steps between two moments. Each request gives two of them, to its first token and from there to its last;
least squares gives 1 / mfu and 1 / mbu. With other factors the schedule is another one, so it is done again
until neither changes by a thousandth.
"""

from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from pycore.cost_model import Efficiency, StepParts, work_of
from pycore.cost_model.efficiency import THOUSAND
from pycore.cost_model.serial_kernels import SerialKernels
from pycore.fidelity.measured_run import MeasuredRun
from pycore.fidelity.prediction import UNFITTED, Rerun, cost_model
from pycore.scheduling.batch import Batch

_MAX_ROUNDS = 6


class _Span(NamedTuple):
    """What lies between two moments of a rerun, at the peaks of the data sheet, and what was measured; ns."""

    compute: int
    traffic: int
    fixed: int
    measured: int


class _Ledger:
    """A cost model that keeps what each step took."""

    needs_lengths = False

    def __init__(self, cost: SerialKernels) -> None:
        self._cost = cost
        self.needs_lengths = cost.needs_lengths
        self.parts: list[StepParts] = []

    def step_ns(self, batch: Batch) -> int:
        """See CostModel."""
        parts = self._cost.parts(*work_of(batch, self.needs_lengths))
        self.parts.append(parts)
        return max(1, sum(parts))


def fit(run: MeasuredRun, start: Efficiency = UNFITTED) -> Efficiency:
    """The factors `mfu` and `mbu` that come nearest to a run; all others stay as they are.

    Args:
        run: measured.
        start: the factors to start with.

    Raises:
        StalledError, WeightsDoNotFitError, ConfigError: see predict.
    """
    found = start
    for _ in range(_MAX_ROUNDS):
        mfu, mbu = _line(_spans(run, found))
        if (mfu, mbu) == (found.mfu, found.mbu):
            break
        found = replace(found, mfu=mfu, mbu=mbu)
    return found


def _spans(run: MeasuredRun, efficiency: Efficiency) -> list[_Span]:
    """A rerun, and what was measured of the same moments."""
    ledger = _Ledger(cost_model(run.settings, efficiency))
    rerun = Rerun(run, ledger)
    ends: dict[int, int] = {rerun.engine.now_ns: 0}  # of each step → steps until then
    while not rerun.done:
        rerun.step()
        ends[rerun.engine.now_ns] = len(ledger.parts)
    sums = [StepParts(0, 0, 0), *accumulate(ledger.parts, _added)]
    predicted = rerun.outcome().requests
    spans = []
    for told, true in zip(predicted, run.measured.requests, strict=True):
        first, last = ends[told.first_token_ns], ends[told.last_token_ns]
        idle_ns = told.first_token_ns - sum(sums[first])  # while nobody was there
        spans.append(_span(efficiency, sums[0], sums[first], true.first_token_ns - idle_ns))
        if last > first:
            took = true.last_token_ns - true.first_token_ns
            idle_ns = told.last_token_ns - told.first_token_ns - sum(sums[last]) + sum(sums[first])
            spans.append(_span(efficiency, sums[first], sums[last], took - idle_ns))
    return spans


def _added(one: StepParts, other: StepParts) -> StepParts:
    return StepParts(*(a + b for a, b in zip(one, other, strict=True)))


def _span(efficiency: Efficiency, start: StepParts, end: StepParts, measured_ns: int) -> _Span:
    compute = (end.compute - start.compute) * efficiency.mfu // THOUSAND
    traffic = (end.traffic - start.traffic) * efficiency.mbu // THOUSAND
    return _Span(compute, traffic, end.fixed - start.fixed, measured_ns)


def _line(spans: list[_Span]) -> tuple[int, int]:
    """Thousandths of both peaks that explain the spans best; exact integers until the last division."""
    cc = sum(each.compute * each.compute for each in spans)
    tt = sum(each.traffic * each.traffic for each in spans)
    ct = sum(each.compute * each.traffic for each in spans)
    cy = sum(each.compute * (each.measured - each.fixed) for each in spans)
    ty = sum(each.traffic * (each.measured - each.fixed) for each in spans)
    det = cc * tt - ct * ct
    mfu, mbu = _thousandths(det, cy * tt - ty * ct), _thousandths(det, ty * cc - cy * ct)
    # Nothing is better than the data sheet: the one that seems to be is at its peak, and the other explains
    # the rest.
    if mbu == THOUSAND:
        mfu = _thousandths(cc, cy - ct)
    elif mfu == THOUSAND:
        mbu = _thousandths(tt, ty - ct)
    return mfu, mbu


def _thousandths(part: int, whole: int) -> int:
    """part / whole, from 1 to 1,000 thousandths; 1,000 where that is no positive number."""
    return max(1, min(THOUSAND, (part * THOUSAND + whole // 2) // whole)) if whole > 0 else THOUSAND
