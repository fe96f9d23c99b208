"""Whom to preempt when memory runs out: what it costs, and whom it hits."""

from collections.abc import Mapping
from dataclasses import replace

from pycore.experiments.experiment import Claim, Experiment, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import TOKENS, Result, percent
from pycore.experiments.serving_run import (
    ATTAINMENT,
    LATENCY,
    PREEMPTIONS,
    SCENARIO_A,
    SCENARIO_A_PARAMS,
    SCENARIO_A_PRESETS,
    THROUGHPUT,
    in_turn,
    seconds,
    serve,
)
from pycore.latency import Served
from pycore.workload.poisson import SHAREGPT

_KEYS = Keys("victim_policy")
_VICTIM = _KEYS.column("victim", "key")

VICTIMS = ("latest_arrival", "fewest_outputs", "most_outputs", "least_important")
CLASSES = 3  # priorities are dealt out in turn; 0 is the most important


def measure(settings: Mapping[str, Setting]) -> Work:
    """Scenario A once for each rule. Progress counts requests."""
    num = settings["requests"]
    load = tuple(
        replace(each, priority=each.id % CLASSES)
        for each in SHAREGPT.requests(settings["seed"], num, settings["rate"])
    )
    told: dict[str, list[Served]] = {victim: [] for victim in VICTIMS}
    runs = (
        (
            victim,
            serve(
                replace(SCENARIO_A, scheduler=replace(SCENARIO_A.scheduler, victim=victim)),
                load,
                on_served=told[victim].append,
            ),
        )
        for victim in VICTIMS
    )
    results = yield from in_turn(runs, len(VICTIMS), num)
    figures = {}
    for victim, result in results.items():
        figures[f"preemptions_{victim}"] = result.num_preemptions
        figures[f"recomputed_{victim}"] = result.num_recomputed
        figures[f"tokens_{victim}"] = round(result.tokens_per_second, 1)
        hit = [
            sum(each.preemptions for each in told[victim] if each.request.priority == p)
            for p in range(CLASSES)
        ]
        figures[f"hit_important_{victim}"], figures[f"hit_unimportant_{victim}"] = hit[0], hit[-1]
    for what in ("recomputed", "preemptions"):
        figures[f"{what}_ratio"] = round(
            figures[f"{what}_most_outputs"] / max(1, figures[f"{what}_latest_arrival"]), 2
        )
    table = _KEYS.table(
        "victims",
        (
            _VICTIM,
            PREEMPTIONS,
            _KEYS.column("recomputed", "int", TOKENS),
            THROUGHPUT,
            ATTAINMENT,
            LATENCY,
            _KEYS.column("important"),
            _KEYS.column("unimportant"),
        ),
        (
            (
                _KEYS.of(f"victim.{victim}"),
                result.num_preemptions,
                result.num_recomputed,
                round(result.tokens_per_second, 1),
                percent(result.attainment),
                seconds(result.end_to_end.mean),
                figures[f"hit_important_{victim}"],
                figures[f"hit_unimportant_{victim}"],
            )
            for victim, result in results.items()
        ),
    )
    names = [_KEYS.of(f"victim.{victim}") for victim in VICTIMS]
    lost = [result.num_recomputed for result in results.values()]
    chart = _KEYS.chart("lost", "bar", _VICTIM, names, _KEYS.column("recomputed", "int", TOKENS), lost)
    return Result(settings, figures, (table,), (chart,))


def _most_outputs_is_seldom_and_dear(result: Result) -> bool:
    return result.figures["preemptions_ratio"] < 0.7 and result.figures["recomputed_ratio"] > 1.3


def _most_outputs_is_slowest(result: Result) -> bool:
    tokens = {victim: result.figures[f"tokens_{victim}"] for victim in VICTIMS}
    return tokens["most_outputs"] == min(tokens.values())


def _priority_spares_the_important(result: Result) -> bool:
    figures = result.figures
    return figures["hit_important_least_important"] < figures["hit_unimportant_least_important"] / 3


VICTIM_POLICY = Experiment(
    name="victim_policy",
    subject="serving",
    params=SCENARIO_A_PARAMS,
    presets=SCENARIO_A_PRESETS,
    claims=(
        Claim("most_outputs_is_seldom_and_dear", "here", _most_outputs_is_seldom_and_dear),
        Claim("most_outputs_is_slowest", "here", _most_outputs_is_slowest),
        Claim("priority_spares_the_important", "here", _priority_spares_the_important),
    ),
    measure=measure,
)
