"""Admitting a prompt as soon as its first chunk fits, and what becomes of the rest."""

from collections.abc import Mapping
from dataclasses import replace

from pycore.config import SchedulerConfig
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import REQUESTS, TOKENS, Result, percent
from pycore.experiments.serving_run import (
    ATTAINMENT,
    LATENCY,
    MEAN_BATCH,
    PREEMPTIONS,
    REQUESTS_A_SECOND,
    SCENARIO_A,
    THROUGHPUT,
    TTFT_P50,
    in_turn,
    seconds,
    serve,
)
from pycore.workload.lognormal import Lengths
from pycore.workload.poisson import PoissonLoad

_KEYS = Keys("first_chunk_only")
_ADMISSION = _KEYS.column("admission", "key")

MAX_LEN = 8000
LONG_PROMPTS = PoissonLoad(Lengths(1500, 0.6, 200, 6000), Lengths(200, 0.5), MAX_LEN)
CASES = {"whole": True, "chunk": False}  # by whether there must be room for the whole prompt


def measure(settings: Mapping[str, Setting]) -> Work:
    """The same load with both rules of admission. Progress counts requests."""
    num = settings["requests"]
    load = tuple(LONG_PROMPTS.requests(settings["seed"], num, settings["rate"]))
    runs = (
        (
            case,
            serve(
                replace(
                    SCENARIO_A,
                    max_len=MAX_LEN,
                    scheduler=SchedulerConfig(
                        rules="vllm-v1", token_budget=settings["budget"], reserve_full_prompt=whole
                    ),
                ),
                load,
            ),
        )
        for case, whole in CASES.items()
    )
    results = yield from in_turn(runs, len(CASES), num)
    figures = {"budget": settings["budget"], "prompt_tokens": sum(each.prompt_len for each in load)}
    for case, result in results.items():
        figures[f"preemptions_{case}"] = result.num_preemptions
        figures[f"recomputed_{case}"] = result.num_recomputed
        figures[f"throughput_{case}"] = round(result.tokens_per_second, 1)
        figures[f"latency_{case}"] = seconds(result.end_to_end.mean)
        figures[f"used_{case}"] = percent(result.utilisation)
    figures["lost_throughput"] = percent(1 - figures["throughput_chunk"] / figures["throughput_whole"])
    figures["times_computed"] = round(figures["recomputed_chunk"] / figures["prompt_tokens"], 1)
    table = _KEYS.table(
        "admissions",
        (
            _ADMISSION,
            PREEMPTIONS,
            _KEYS.column("recomputed", "int", TOKENS),
            THROUGHPUT,
            MEAN_BATCH,
            ATTAINMENT,
            TTFT_P50,
            LATENCY,
        ),
        (
            (
                _KEYS.of(f"case.{case}"),
                result.num_preemptions,
                result.num_recomputed,
                round(result.tokens_per_second, 1),
                round(result.mean_running, 1),
                percent(result.attainment),
                seconds(result.ttft.p50),
                seconds(result.end_to_end.mean),
            )
            for case, result in results.items()
        ),
    )
    names = [_KEYS.of(f"case.{case}") for case in CASES]
    lost = [result.num_recomputed for result in results.values()]
    chart = _KEYS.chart("lost", "bar", _ADMISSION, names, _KEYS.column("recomputed", "int", TOKENS), lost)
    return Result(settings, figures, (table,), (chart,))


def _it_thrashes(result: Result) -> bool:
    return result.figures["preemptions_chunk"] >= 10 * max(1, result.figures["preemptions_whole"])


def _more_is_computed_again_than_was_asked(result: Result) -> bool:
    return result.figures["recomputed_chunk"] > result.figures["prompt_tokens"]


def _a_full_pool_is_no_use(result: Result) -> bool:
    figures = result.figures
    return figures["lost_throughput"] >= 10 and figures["used_chunk"] >= figures["used_whole"]


FIRST_CHUNK_ONLY = Experiment(
    name="first_chunk_only",
    subject="serving",
    params=(
        Param("budget", "int", 512, 64, 8192, unit=TOKENS),
        Param("rate", "int", 1, 1, 20, unit=REQUESTS_A_SECOND),
        Param("requests", "int", 200, 50, 1000, unit=REQUESTS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(Preset("one_a_second", {}), Preset("two_a_second", {"rate": 2, "seed": 0})),
    claims=(
        Claim("it_thrashes", "users", _it_thrashes),
        Claim("more_is_computed_again_than_was_asked", "here", _more_is_computed_again_than_was_asked),
        Claim("a_full_pool_is_no_use", "here", _a_full_pool_is_no_use),
    ),
    measure=measure,
)
