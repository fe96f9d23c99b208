"""Theorem 3.1 of the SGLang paper: depth first is optimal once the cache holds the longest request."""

from collections.abc import Mapping

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import ORDER, Keys, order_key
from pycore.experiments.prefix_run import DEPTH_FIRST, Served, planned, serve
from pycore.experiments.result import TOKENS, Result, percent
from pycore.workload.few_shot import few_shot

_KEYS = Keys("theorem")

ORDERS = (DEPTH_FIRST, "lpm", "fcfs")


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves a load that is known as a whole, with a cache of one request and with a smaller one.

    Progress counts requests served.
    """
    load = few_shot(settings["seed"], settings["tasks"], settings["questions"])
    longest = max(each.total_len for each in load)
    distinct = planned(load).total
    capacities = (longest, settings["below"])
    runs = [(order, at) for at in range(len(capacities)) for order in ORDERS]
    found: dict[tuple[str, int], Served] = {}
    for i, (order, at) in enumerate(runs):
        found[order, at] = yield from serve(
            load,
            order,
            capacities[at],
            window=len(load),
            before=i * len(load),
            total=len(runs) * len(load),
        )
    figures = {
        "requests": len(load),
        "longest": longest,
        "below": settings["below"],
        "prompt_tokens": found[DEPTH_FIRST, 0].prompt_tokens,
        "distinct": distinct,
        "best_hit": percent(1 - distinct / found[DEPTH_FIRST, 0].prompt_tokens),
    }
    for (order, at), run in found.items():
        figures[f"{order}_{('enough', 'below')[at]}"] = run.computed
    enough, below = (tuple(found[order, at].computed for order in ORDERS) for at in (0, 1))
    names = tuple(map(order_key, ORDERS))
    columns = [_KEYS.column(name, "int", TOKENS) for name in ("distinct", "enough", "below")]
    rows = [(name, distinct, *computed) for name, *computed in zip(names, enough, below, strict=True)]
    table = _KEYS.table("computed", (ORDER, *columns), rows)
    values = {columns[1].key: enough, columns[2].key: below}
    chart = _KEYS.chart("computed", "bar", ORDER, names, _KEYS.column("computed", "int", TOKENS), values)
    return Result(settings, figures, (table,), (chart,))


def _depth_first_is_optimal(result: Result) -> bool:
    return result.figures["depth_first_enough"] == result.figures["distinct"]


def _longest_prefix_equals_it(result: Result) -> bool:
    return result.figures["lpm_enough"] == result.figures["distinct"]


def _order_matters(result: Result) -> bool:
    return result.figures["fcfs_enough"] > result.figures["distinct"]


def _not_below_a_request(result: Result) -> bool:
    figures = result.figures
    return figures["below"] < figures["longest"] and figures["depth_first_below"] > figures["distinct"]


THEOREM = Experiment(
    name="theorem",
    subject="caching",
    params=(
        Param("seed", "int", 5, 0, 9999),
        Param("tasks", "int", 8, 2, 16),
        Param("questions", "int", 20, 1, 50),
        Param("below", "int", 680, 1, 690, unit=TOKENS),
    ),
    presets=(
        Preset("eight_tasks", {}),
        Preset("sixteen_tasks", {"tasks": 16, "questions": 10}),
        Preset("nothing_fits", {"below": 650}),
        Preset("other_seed", {"seed": 1}),
    ),
    claims=(
        Claim("depth_first_is_optimal", "sglang_theorem", _depth_first_is_optimal),
        Claim("longest_prefix_equals_it", "sglang_theorem", _longest_prefix_equals_it),
        Claim("order_matters", "lecture_radix_7_3", _order_matters),
        Claim("not_below_a_request", "lecture_radix_exercise_5", _not_below_a_request),
    ),
    measure=measure,
)
