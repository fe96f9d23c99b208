"""One huge request at the head of the queue, and all that wait behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pycore.config import EngineConfig
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import REQUESTS, SECONDS, TOKENS, Result, percent
from pycore.experiments.serving_run import (
    ATTAINMENT,
    REQUESTS_A_MINUTE,
    SCENARIO_A,
    TTFT_P50,
    TTFT_P99,
    in_turn,
    seconds,
    serve,
)
from pycore.latency import Served
from pycore.metrics import percentile
from pycore.request import Request
from pycore.workload.poisson import SHAREGPT

_KEYS = Keys("head_of_line")
_CASE = _KEYS.column("case", "key")

CASES = ("without", "fcfs", "shortest")
OUTPUT = 100  # tokens that the huge one generates
MAX_LEN = 12_000


def measure(settings: Mapping[str, Setting]) -> Work:
    """The load alone, and with the huge request under both orders. Progress counts requests."""
    num, at = settings["requests"], settings["requests"] * 3 // 10
    alone = tuple(SHAREGPT.requests(settings["seed"], num, settings["rate"] / 60))
    huge = Request(at, alone[at].arrival_ns, settings["huge"], OUTPUT)
    load = (*alone[:at], huge, *(replace(each, id=each.id + 1) for each in alone[at:]))
    told: dict[str, list[Served]] = {case: [] for case in CASES}
    runs = (
        (case, serve(_engine(case), alone if case == "without" else load, on_served=told[case].append))
        for case in CASES
    )
    results = yield from in_turn(runs, len(CASES), num + 1)
    figures = {"huge": settings["huge"], "capacity": results["fcfs"].capacity}
    waits: dict[str, float | None] = {}
    for case in CASES:
        others = [each for each in told[case] if each.request.prompt_len != huge.prompt_len]
        mine = [each for each in told[case] if each.request.prompt_len == huge.prompt_len]
        waits[case] = seconds(mine[0].queueing_ns) if mine else None
        behind = _behind(others, mine)
        figures[f"behind_{case}"] = len(behind)
        figures[f"wait_behind_{case}"] = seconds(
            sum(each.queueing_ns for each in behind) / max(1, len(behind))
        )
        figures[f"longest_{case}"] = seconds(max(each.queueing_ns for each in others))
        figures[f"ttft_50_{case}"] = seconds(percentile([each.ttft_ns for each in others], 50))
        figures[f"ttft_99_{case}"] = seconds(percentile([each.ttft_ns for each in others], 99))
        figures[f"huge_waits_{case}"] = waits[case] or 0
    table = _KEYS.table(
        "cases",
        (
            _CASE,
            _KEYS.column("huge_waits", "float", SECONDS),
            _KEYS.column("behind", "int", REQUESTS),
            _KEYS.column("wait_behind", "float", SECONDS),
            _KEYS.column("longest", "float", SECONDS),
            TTFT_P50,
            TTFT_P99,
            ATTAINMENT,
        ),
        (
            (
                _KEYS.of(f"case.{case}"),
                waits[case],
                figures[f"behind_{case}"],
                figures[f"wait_behind_{case}"],
                figures[f"longest_{case}"],
                figures[f"ttft_50_{case}"],
                figures[f"ttft_99_{case}"],
                percent(result.attainment),
            )
            for case, result in results.items()
        ),
    )
    names = [_KEYS.of(f"case.{case}") for case in CASES]
    longest = [figures[f"longest_{case}"] for case in CASES]
    chart = _KEYS.chart("longest", "bar", _CASE, names, _KEYS.column("longest", "float", SECONDS), longest)
    return Result(settings, figures, (table,), (chart,))


def _engine(case: str) -> EngineConfig:
    queue = "shortest" if case == "shortest" else "fcfs"
    return replace(SCENARIO_A, max_len=MAX_LEN, scheduler=replace(SCENARIO_A.scheduler, queue=queue))


def _behind(others: Sequence[Served], huge: Sequence[Served]) -> list[Served]:
    """Those that arrived while the huge one waited."""
    return [
        each
        for one in huge
        for each in others
        if one.request.arrival_ns <= each.request.arrival_ns < one.request.arrival_ns + one.queueing_ns
    ]


def _all_behind_it_wait(result: Result) -> bool:
    figures = result.figures
    return figures["behind_fcfs"] >= 5 and figures["wait_behind_fcfs"] >= 2 > 4 * figures["longest_without"]


def _the_median_sees_nothing(result: Result) -> bool:
    figures = result.figures
    return figures["ttft_50_fcfs"] <= 2 * figures["ttft_50_without"] and (
        figures["ttft_99_fcfs"] >= 10 * figures["ttft_99_without"]
    )


def _shortest_first_lets_them_pass(result: Result) -> bool:
    figures = result.figures
    return (
        figures["wait_behind_shortest"] < 0.2 and figures["huge_waits_shortest"] > figures["huge_waits_fcfs"]
    )


HEAD_OF_LINE = Experiment(
    name="head_of_line",
    subject="serving",
    params=(
        Param("huge", "int", 10_000, 2000, 11_800, unit=TOKENS),
        Param("rate", "int", 90, 6, 600, unit=REQUESTS_A_MINUTE),
        Param("requests", "int", 200, 50, 1000, unit=REQUESTS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(Preset("ten_thousand_tokens", {}), Preset("other_seed", {"seed": 0})),
    claims=(
        Claim("all_behind_it_wait", "users", _all_behind_it_wait),
        Claim("the_median_sees_nothing", "here", _the_median_sees_nothing),
        Claim("shortest_first_lets_them_pass", "here", _shortest_first_lets_them_pass),
    ),
    measure=measure,
)
