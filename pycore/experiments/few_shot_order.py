"""In which order to serve prompts that share examples, when the cache cannot hold those of all tasks."""

from collections.abc import Mapping
from dataclasses import replace

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import (
    CAPACITY,
    COMPUTED,
    HIT_RATE,
    LONGEST_WAIT,
    MEAN_WAIT,
    ORDER,
    PREFILL_TIME,
    PUBLISHED_HIT_RATE,
    Keys,
    order_key,
)
from pycore.experiments.prefill_time import served_seconds
from pycore.experiments.prefix_run import DEPTH_FIRST, Served, serve
from pycore.experiments.result import STEPS, TOKENS, Chart, Result, Table, percent
from pycore.scheduling.queue_order import PLAIN
from pycore.workload.few_shot import few_shot

_KEYS = Keys("few_shot_order")

ORDERS = ("fcfs", "lpm", "dfs_weight", "ageing", "capped_wait", DEPTH_FIRST)
# Over these capacities the chart shows how three of the orders fare.
SWEEP = (650, 800, 2000, 4000, 12_000)
SWEPT = ("fcfs", "lpm", DEPTH_FIRST)
# The lecture on PagedAttention and RadixAttention, section 7.3 and exercise 5 (facts R4): capacity → order →
# hit rate in percent; and a capacity below every request, where it is zero in every order (the others of that
# kind are those of capacity_below_request).
PUBLISHED = {
    800: {"fcfs": 24.0, "lpm": 81.9, DEPTH_FIRST: 89.5},
    2000: {"fcfs": 42.1, "lpm": 82.8},
}
BELOW = 650


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves the load in every order at the capacity asked for, then in some over all capacities.

    Progress counts requests served.
    """
    load = few_shot(settings["seed"])
    rules = replace(PLAIN, ageing=settings["ageing"], longest_wait=settings["longest_wait"])
    runs = [(order, settings["capacity"]) for order in ORDERS]
    runs += [(order, each) for each in SWEEP for order in SWEPT if (order, each) not in runs]
    found: dict[tuple[str, int], Served] = {}
    for i, (order, capacity) in enumerate(runs):
        found[order, capacity] = yield from serve(
            load, order, capacity, settings["window"], rules, i * len(load), len(runs) * len(load)
        )
    served = {order: found[order, settings["capacity"]] for order in ORDERS}
    figures = {
        "requests": len(load),
        "capacity": settings["capacity"],
        "window": settings["window"],
        "longest": max(each.total_len for each in load),
        "shortest": min(each.total_len for each in load),
        "below": BELOW,
        "zero_hits": sum(found[order, BELOW].hit_tokens for order in SWEPT),
        "lpm_of_best": percent(served["lpm"].hit_rate / served[DEPTH_FIRST].hit_rate)
        if served[DEPTH_FIRST].hit_tokens
        else 0.0,
    }
    for order, run in served.items():
        figures[f"hit_{order}"] = percent(run.hit_rate)
        figures[f"wait_{order}"] = max(run.waits)
        figures[f"prefill_{order}"] = served_seconds(run)
    return Result(settings, figures, (_table(served, settings["capacity"]),), _charts(served, found))


def _longest_wait(order: str, run: Served) -> int | None:
    """None for the order that does without a window."""
    return None if order == DEPTH_FIRST else max(run.waits)


def _table(served: Mapping[str, Served], capacity: int) -> Table:
    published = PUBLISHED.get(capacity, {})
    return _KEYS.table(
        "orders",
        (ORDER, HIT_RATE, PUBLISHED_HIT_RATE, COMPUTED, PREFILL_TIME, LONGEST_WAIT, MEAN_WAIT),
        (
            (
                order_key(order),
                percent(run.hit_rate),
                published.get(order),
                run.computed,
                served_seconds(run),
                _longest_wait(order, run),
                None if order == DEPTH_FIRST else round(sum(run.waits) / len(run.waits), 1),
            )
            for order, run in served.items()
        ),
    )


def _charts(served: Mapping[str, Served], swept: Mapping[tuple[str, int], Served]) -> tuple[Chart, ...]:
    names = tuple(map(order_key, ORDERS))
    hits = [percent(served[order].hit_rate) for order in ORDERS]
    waits = [_longest_wait(order, served[order]) for order in ORDERS]
    over = {order_key(order): [percent(swept[order, each].hit_rate) for each in SWEEP] for order in SWEPT}
    return (
        _KEYS.chart("hit", "bar", ORDER, names, HIT_RATE, hits),
        _KEYS.chart("wait", "bar", ORDER, names, LONGEST_WAIT, waits),
        _KEYS.chart("capacity", "line", CAPACITY, SWEEP, HIT_RATE, over),
    )


def _fcfs_thrashes(result: Result) -> bool:
    return result.figures["hit_fcfs"] < 50


def _longest_prefix_keeps_together(result: Result) -> bool:
    return result.figures["hit_lpm"] >= 78 and result.figures["lpm_of_best"] >= 90


def _nothing_below_a_request(result: Result) -> bool:
    return result.figures["shortest"] > BELOW and result.figures["zero_hits"] == 0


def _fcfs_is_fair(result: Result) -> bool:
    return result.figures["wait_fcfs"] <= result.figures["window"] - 1


def _longest_prefix_starves(result: Result) -> bool:
    return result.figures["wait_lpm"] > 60


def _fairness_can_be_had(result: Result) -> bool:
    figures = result.figures
    return max(figures["wait_ageing"], figures["wait_capped_wait"]) < figures["wait_lpm"] and (
        min(figures["hit_ageing"], figures["hit_capped_wait"]) > figures["hit_fcfs"]
    )


FEW_SHOT_ORDER = Experiment(
    name="few_shot_order",
    subject="caching",
    params=(
        Param("capacity", "int", 800, 100, 50_000, unit=TOKENS),
        Param("seed", "int", 5, 0, 9999),
        Param("window", "int", 32, 1, 400),
        Param("ageing", "int", 16, 0, 1000, unit=TOKENS),
        Param("longest_wait", "int", 48, 1, 1000, unit=STEPS),
    ),
    presets=(
        Preset("one_task_fits", {}),
        Preset("three_tasks_fit", {"capacity": 2000}),
        Preset("seed_1", {"seed": 1}),
        Preset("three_tasks_fit_seed_2", {"capacity": 2000, "seed": 2}),
    ),
    claims=(
        Claim("fcfs_thrashes", "lecture_radix_7_3", _fcfs_thrashes),
        Claim("longest_prefix_keeps_together", "lecture_radix_7_3", _longest_prefix_keeps_together),
        Claim("nothing_below_a_request", "lecture_radix_exercise_5", _nothing_below_a_request),
        Claim("fcfs_is_fair", "lecture_radix_7_3", _fcfs_is_fair),
        Claim("longest_prefix_starves", "lecture_radix_7_3", _longest_prefix_starves),
        Claim("fairness_can_be_had", "lecture_radix_exercise_9", _fairness_can_be_had),
    ),
    measure=measure,
)
