"""How much memory an admission should leave free for those who run."""

from collections.abc import Mapping
from dataclasses import replace

from pycore.experiments.experiment import Claim, Experiment, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import PERCENT, TOKENS, Result, percent
from pycore.experiments.serving_run import (
    ATTAINMENT,
    MEAN_BATCH,
    PREEMPTIONS,
    SCENARIO_A,
    SCENARIO_A_PARAMS,
    SCENARIO_A_PRESETS,
    THROUGHPUT,
    in_turn,
    serve,
)
from pycore.workload.poisson import SHAREGPT

_KEYS = Keys("watermark")
_WATERMARK = _KEYS.column("watermark", "int", PERCENT)

WATERMARKS = (0, 1, 2, 5, 10, 20)  # percent of the blocks
# An independent check of the same setting with lengths of its own, at 0, 1, 5, 10 and 20 %.
PUBLISHED = {0: 619, 1: 415, 5: 122, 10: 46, 20: 1}


def measure(settings: Mapping[str, Setting]) -> Work:
    """Scenario A once for each watermark. Progress counts requests."""
    num = settings["requests"]
    load = tuple(SHAREGPT.requests(settings["seed"], num, settings["rate"]))
    runs = (
        (
            each,
            serve(replace(SCENARIO_A, scheduler=replace(SCENARIO_A.scheduler, watermark=each / 100)), load),
        )
        for each in WATERMARKS
    )
    results = yield from in_turn(runs, len(WATERMARKS), num)
    figures = {}
    for each, result in results.items():
        figures[f"preemptions_{each}"] = result.num_preemptions
        figures[f"tokens_{each}"] = round(result.tokens_per_second, 1)
        figures[f"in_slo_{each}"] = percent(result.attainment)
    figures["change"] = percent(figures["tokens_5"] / figures["tokens_0"] - 1)
    table = _KEYS.table(
        "watermarks",
        (
            _WATERMARK,
            PREEMPTIONS,
            _KEYS.column("published"),
            _KEYS.column("recomputed", "int", TOKENS),
            THROUGHPUT,
            MEAN_BATCH,
            ATTAINMENT,
        ),
        (
            (
                each,
                result.num_preemptions,
                PUBLISHED.get(each),
                result.num_recomputed,
                round(result.tokens_per_second, 1),
                round(result.mean_running, 1),
                percent(result.attainment),
            )
            for each, result in results.items()
        ),
    )
    preemptions = [each.num_preemptions for each in results.values()]
    throughput = [round(each.tokens_per_second, 1) for each in results.values()]
    charts = (
        _KEYS.chart("preemptions", "line", _WATERMARK, WATERMARKS, PREEMPTIONS, preemptions),
        _KEYS.chart("throughput", "line", _WATERMARK, WATERMARKS, THROUGHPUT, throughput),
    )
    return Result(settings, figures, (table,), charts)


def _saves_preemptions(result: Result) -> bool:
    figures = result.figures
    return figures["preemptions_0"] >= 300 and figures["preemptions_5"] <= figures["preemptions_0"] / 3


def _costs_no_throughput(result: Result) -> bool:
    return -3 <= result.figures["change"] <= 6


def _too_high_is_a_reservation(result: Result) -> bool:
    figures = result.figures
    return figures["tokens_20"] < figures["tokens_5"] and figures["in_slo_20"] < figures["in_slo_5"]


WATERMARK = Experiment(
    name="watermark",
    subject="serving",
    params=SCENARIO_A_PARAMS,
    presets=SCENARIO_A_PRESETS,
    claims=(
        Claim("saves_preemptions", "lecture_radix_exercise_3", _saves_preemptions),
        Claim("costs_no_throughput", "lecture_radix_exercise_3", _costs_no_throughput),
        Claim("too_high_is_a_reservation", "lecture_radix_exercise_3", _too_high_is_a_reservation),
    ),
    measure=measure,
)
