"""Throughput by block size: memory alone, and with the kernel that has to find the blocks."""

from collections.abc import Mapping
from dataclasses import replace

from pycore.cost_model import PAPER_KERNEL, Efficiency
from pycore.experiments.experiment import Claim, Experiment, Setting, Work
from pycore.experiments.keys import BLOCK_SIZE, Keys
from pycore.experiments.result import Result, percent
from pycore.experiments.serving_run import (
    ATTAINMENT,
    PREEMPTIONS,
    SCENARIO_A,
    SCENARIO_A_BLOCKS,
    SCENARIO_A_PARAMS,
    SCENARIO_A_PRESETS,
    THROUGHPUT,
    in_turn,
    serve,
)
from pycore.experiments.serving_run import BLOCK_SIZE as USUAL_SIZE
from pycore.workload.poisson import SHAREGPT

_KEYS = Keys("block_size_in_time")

SIZES = (1, 4, 16, 32, 64, 256)
PUBLISHED = {1: 725, 16: 722, 64: 703, 256: 628}  # tokens a second, memory alone (facts S4)
MEMORY, KERNEL = "memory", "kernel"


def measure(settings: Mapping[str, Setting]) -> Work:
    """Scenario A for each size, in as many slots, without and with the kernel. Progress counts requests."""
    num = settings["requests"]
    load = tuple(SHAREGPT.requests(settings["seed"], num, settings["rate"]))
    runs = [
        (
            (kind, size),
            serve(
                replace(
                    SCENARIO_A,
                    memory=replace(
                        SCENARIO_A.memory, num_blocks=SCENARIO_A_BLOCKS * USUAL_SIZE // size, block_size=size
                    ),
                    efficiency=Efficiency(kernel=PAPER_KERNEL if kind == KERNEL else None),
                ),
                load,
            ),
        )
        for kind in (MEMORY, KERNEL)
        for size in SIZES
    ]
    results = yield from in_turn(runs, len(runs), num)
    figures = {}
    for (kind, size), result in results.items():
        figures[f"{kind}_{size}"] = round(result.tokens_per_second, 1)
        figures[f"{kind}_in_slo_{size}"] = percent(result.attainment)
    figures["best"] = max(SIZES, key=lambda size: figures[f"{KERNEL}_{size}"])
    figures["tokens_best"] = figures[f"{KERNEL}_{figures['best']}"]
    figures["usual_of_best"] = percent(figures[f"{KERNEL}_{USUAL_SIZE}"] / figures["tokens_best"])
    table = _KEYS.table(
        "sizes",
        (
            BLOCK_SIZE,
            THROUGHPUT,
            replace(THROUGHPUT, key=_KEYS.of("column.published"), kind="int"),
            ATTAINMENT,
            PREEMPTIONS,
            replace(THROUGHPUT, key=_KEYS.of("column.with_kernel")),
            replace(ATTAINMENT, key=_KEYS.of("column.in_slo_with_kernel")),
        ),
        (
            (
                size,
                figures[f"{MEMORY}_{size}"],
                PUBLISHED.get(size),
                figures[f"{MEMORY}_in_slo_{size}"],
                results[MEMORY, size].num_preemptions,
                figures[f"{KERNEL}_{size}"],
                figures[f"{KERNEL}_in_slo_{size}"],
            )
            for size in SIZES
        ),
    )
    lines = {
        _KEYS.of(f"series.{kind}"): [figures[f"{kind}_{size}"] for size in SIZES] for kind in (MEMORY, KERNEL)
    }
    chart = _KEYS.chart("throughput", "line", BLOCK_SIZE, SIZES, THROUGHPUT, lines)
    return Result(settings, figures, (table,), (chart,))


def _memory_alone_falls(result: Result) -> bool:
    tokens = [result.figures[f"{MEMORY}_{size}"] for size in PUBLISHED]
    in_slo = [result.figures[f"{MEMORY}_in_slo_{size}"] for size in PUBLISHED]
    return all(each == sorted(each, reverse=True) and each[0] > each[-1] for each in (tokens, in_slo))


def _the_middle_is_best(result: Result) -> bool:
    return SIZES[0] < result.figures["best"] < SIZES[-1]


def _sixteen_is_close(result: Result) -> bool:
    return result.figures["usual_of_best"] >= 97


BLOCK_SIZE_IN_TIME = Experiment(
    name="block_size_in_time",
    subject="serving",
    params=SCENARIO_A_PARAMS,
    presets=SCENARIO_A_PRESETS,
    claims=(
        Claim("memory_alone_falls", "lecture_radix_3_4", _memory_alone_falls),
        Claim("the_middle_is_best", "paper_7_2", _the_middle_is_best),
        Claim("sixteen_is_close", "paper_7_2", _sixteen_is_close),
    ),
    measure=measure,
)
