"""How often a contiguous region fails to find a place although enough is free in all."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from math import log

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import (
    PERCENT,
    REQUESTS,
    SLOTS,
    TOKENS,
    Chart,
    Result,
    Table,
    percent,
)
from pycore.memory.placement import PLACEMENTS
from pycore.rng import Rng

_KEYS = Keys("external_fragmentation")

MEANS = (512, 2048, 4096)
REQUESTS_AT_ONCE = 512

# The lecture on PagedAttention and RadixAttention, section 1.3 (facts W4), by mean size: failed placements,
# and how many percent of them had enough free slots in all. It does not publish its load.
PUBLISHED = {512: (97, 99), 2048: (783, 77), 4096: (1377, 55)}


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of the requests of one mean size.

    Attributes:
        mean: mean size asked of the generator, in slots.
        asked: mean size that came out, in slots.
        failed: requests that found no place.
        scattered: of those, with enough free slots in all.
        held: share of the stretch that was held, mean over the arrivals, 0 to 1.
    """

    mean: int
    asked: int
    failed: int
    scattered: int
    held: float

    @property
    def share(self) -> float:
        """Failures with enough free in all, in percent of all failures; 0 without failures."""
        return percent(self.scattered / self.failed) if self.failed else 0.0


def _exponential(rng: Rng, mean: float) -> int:
    """An exponential variate, rounded here so that every platform returns the same integer, at least 1."""
    return max(1, round(-log(1 - rng.random()) * mean))


def _outcome(mean: int, settings: Mapping[str, Setting]) -> Generator[tuple[int, int], None, _Outcome]:
    """One request a tick asks for a place and, if it gets one, stays for a random time.

    Mean stay × mean size = offered share × stretch, so that the demand is the same for every size. A request
    that finds no place goes away. Yields the requests so far, those of the means before included, and all.
    """
    slots, num = settings["slots"], settings["requests"]
    before, all_requests = MEANS.index(mean) * num, len(MEANS) * num
    rng = Rng(settings["seed"])
    sizes, stays = rng.fork("sizes"), rng.fork("stays")
    mean_stay = settings["offered"] * slots / (100 * mean)
    placement = PLACEMENTS[settings["placement"]](slots)
    leaving: list[tuple[int, int, int]] = []  # (tick, start, size), soonest first; starts are distinct
    failed = scattered = total = held = 0
    for tick in range(num):
        while leaving and leaving[0][0] <= tick:
            _, start, size = heappop(leaving)
            placement.give_back(start, size)
        held += slots - placement.num_free
        size = min(placement.largest, _exponential(sizes, mean))
        stay = _exponential(stays, mean_stay)
        total += size
        start = placement.place(size)
        if start is not None:
            heappush(leaving, (tick + stay, start, size))
        else:
            failed += 1
            scattered += placement.num_free >= placement.rounded(size)
        if (tick + 1) % REQUESTS_AT_ONCE == 0:
            yield before + tick + 1, all_requests
    yield before + num, all_requests
    return _Outcome(mean, round(total / num), failed, scattered, held / (num * slots))


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs as many requests through the stretch for each mean size."""
    outcomes = []
    for mean in MEANS:
        outcomes.append((yield from _outcome(mean, settings)))
    figures: dict[str, int | float] = {"requests": settings["requests"], "slots": settings["slots"]}
    for outcome in outcomes:
        figures[f"failed_{outcome.mean}"] = outcome.failed
        figures[f"share_{outcome.mean}"] = outcome.share
    return Result(settings, figures, (_table(outcomes),), _charts(outcomes))


def _table(outcomes: list[_Outcome]) -> Table:
    return _KEYS.table(
        "failures",
        (
            _KEYS.column("mean", "int", TOKENS),
            _KEYS.column("asked", "int", TOKENS),
            _KEYS.column("held", "float", PERCENT),
            _KEYS.column("failed", "int", REQUESTS),
            _KEYS.column("scattered", "int", REQUESTS),
            _KEYS.column("share", "float", PERCENT),
            _KEYS.column("published_failed", "int", REQUESTS),
            _KEYS.column("published_share", "int", PERCENT),
        ),
        tuple(
            (
                each.mean,
                each.asked,
                percent(each.held),
                each.failed,
                each.scattered,
                each.share,
                *PUBLISHED[each.mean],
            )
            for each in outcomes
        ),
    )


def _charts(outcomes: list[_Outcome]) -> tuple[Chart, ...]:
    failures = {
        _KEYS.of("series.scattered"): [each.scattered for each in outcomes],
        _KEYS.of("series.short"): [each.failed - each.scattered for each in outcomes],
    }
    shares = [each.share for each in outcomes]
    mean, failed = _KEYS.column("mean", "int", TOKENS), _KEYS.column("failed", "int", REQUESTS)
    return (
        _KEYS.chart("failures", "stacked_bar", mean, MEANS, failed, failures),
        _KEYS.chart("share", "line", mean, MEANS, _KEYS.column("share", "float", PERCENT), shares),
    )


def _failures_rise(result: Result) -> bool:
    failed = [result.figures[f"failed_{mean}"] for mean in MEANS]
    return failed[0] < failed[1] < failed[2]


def _share_falls(result: Result) -> bool:
    share = [result.figures[f"share_{mean}"] for mean in MEANS]
    return share[0] > share[1] > share[2]


def _holes_are_to_blame(result: Result) -> bool:
    return result.figures["failed_512"] > 0 and result.figures["share_512"] >= 75


EXTERNAL_FRAGMENTATION = Experiment(
    name="external_fragmentation",
    subject="memory",
    params=(
        Param("placement", "choice", "first_fit", choices=tuple(PLACEMENTS)),
        Param("seed", "int", 0, 0, 9999),
        Param("requests", "int", 4000, 100, 100_000, unit=REQUESTS),
        Param("offered", "int", 80, 10, 200, unit=PERCENT),
        Param("slots", "int", 32_768, 8192, 1_048_576, unit=SLOTS),
    ),
    presets=(
        Preset("first_fit", {}),
        Preset("first_fit_seed_1", {"seed": 1}),
        Preset("first_fit_seed_2", {"seed": 2}),
        Preset("crowded", {"offered": 100}),
        Preset("buddy", {"placement": "buddy"}),
        Preset("buddy_seed_1", {"placement": "buddy", "seed": 1}),
    ),
    claims=(
        Claim("failures_rise", "lecture_radix", _failures_rise),
        Claim("share_falls", "lecture_radix", _share_falls),
        Claim("holes_are_to_blame", "lecture_radix", _holes_are_to_blame),
    ),
    measure=measure,
)
