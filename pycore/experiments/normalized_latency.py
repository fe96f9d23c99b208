"""Latency against rate under five managers: where each of them falls over."""

from collections.abc import Mapping

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import MILLISECONDS, REQUESTS, Result
from pycore.experiments.serving_run import (
    BUDDY,
    MANAGERS,
    REQUESTS_A_MINUTE,
    SCENARIO_A,
    in_turn,
    manager_key,
    serve,
    under,
)
from pycore.workload.poisson import SHAREGPT

_KEYS = Keys("normalized_latency")
_RATE = _KEYS.column("rate", "int", REQUESTS_A_MINUTE)
_LATENCY = _KEYS.column("normalized", "int", MILLISECONDS)

FIVE = (*MANAGERS[:-1], BUDDY, MANAGERS[-1])
RATES = (15, 30, 45, 60, 90, 120, 180, 240)  # requests a minute
MS = 10**6


def measure(settings: Mapping[str, Setting]) -> Work:
    """Scenario A under each manager at each rate. Progress counts requests."""
    num, limit = settings["requests"], settings["limit"]
    runs = (
        (
            (manager, rate),
            serve(under(SCENARIO_A, manager), SHAREGPT.requests(settings["seed"], num, rate / 60)),
        )
        for manager in FIVE
        for rate in RATES
    )
    results = yield from in_turn(runs, len(FIVE) * len(RATES), num)
    latency = {key: round(result.normalized.mean / MS) for key, result in results.items()}
    figures = {"limit": limit, "lowest": RATES[0], "highest": RATES[-1]}
    for manager in FIVE:
        figures[f"rate_{manager}"] = max(
            (rate for rate in RATES if latency[manager, rate] <= limit), default=0
        )
        figures[f"first_{manager}"] = latency[manager, RATES[0]]
        figures[f"last_{manager}"] = latency[manager, RATES[-1]]
    for manager in FIVE[:-1]:
        figures[f"gain_{manager}"] = round(figures["rate_paged"] / max(1, figures[f"rate_{manager}"]), 1)
    table = _KEYS.table(
        "rates",
        (_RATE, *(_KEYS.column(manager, "int", MILLISECONDS) for manager in FIVE)),
        ((rate, *(latency[manager, rate] for manager in FIVE)) for rate in RATES),
    )
    lines = {manager_key(manager): [latency[manager, rate] for rate in RATES] for manager in FIVE}
    return Result(
        settings, figures, (table,), (_KEYS.chart("latency", "line", _RATE, RATES, _LATENCY, lines),)
    )


def _latency_explodes(result: Result) -> bool:
    figures = result.figures
    return all(figures[f"last_{each}"] >= 3 * figures[f"first_{each}"] for each in FIVE[:-1])


def _the_better_the_later(result: Result) -> bool:
    rates = [result.figures[f"rate_{each}"] for each in MANAGERS]
    return rates == sorted(rates) and rates[0] < rates[-1]


def _paged_takes_more(result: Result) -> bool:
    return result.figures["gain_max"] >= 2.7 and result.figures[f"gain_{BUDDY}"] >= 1.7


def _buddies_cost(result: Result) -> bool:
    return result.figures[f"last_{BUDDY}"] > result.figures["last_oracle"]


NORMALIZED_LATENCY = Experiment(
    name="normalized_latency",
    subject="serving",
    params=(
        Param("limit", "int", 50, 20, 5000, unit=MILLISECONDS),
        Param("requests", "int", 200, 100, 1000, unit=REQUESTS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(Preset("twenty_tokens_a_second", {}), Preset("other_seed", {"seed": 0})),
    claims=(
        Claim("latency_explodes", "paper_6_2", _latency_explodes),
        Claim("the_better_the_later", "paper_6_2", _the_better_the_later),
        Claim("paged_takes_more", "paper_6_2", _paged_takes_more),
        Claim("buddies_cost", "here", _buddies_cost),
    ),
    measure=measure,
)
