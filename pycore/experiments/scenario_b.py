"""The same managers where memory is not tight: Llama-3-8B on an H100, long prompts."""

from collections.abc import Mapping
from dataclasses import replace

from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import REQUESTS, Result, percent
from pycore.experiments.serving_run import (
    ATTAINMENT,
    BLOCK_SIZE,
    LATENCY,
    MANAGER,
    MEAN_BATCH,
    REQUESTS_A_SECOND,
    SCENARIO_A,
    THROUGHPUT,
    UTILISATION,
    in_turn,
    manager_key,
    seconds,
    serve,
    under,
)
from pycore.specs import H100_SXM, LLAMA_3_8B, Deployment, kv_capacity_blocks
from pycore.workload.poisson import LONG_PROMPTS, SHAREGPT

_KEYS = Keys("scenario_b")

SCENARIO_B = EngineConfig(
    memory=MemoryConfig(num_blocks=kv_capacity_blocks(LLAMA_3_8B, H100_SXM), block_size=BLOCK_SIZE),
    scheduler=SchedulerConfig(rules="prefill-first", watermark=0.01, max_num_seqs=512),
    max_len=LONG_PROMPTS.max_len,
    deployment=Deployment(LLAMA_3_8B, H100_SXM),
)
MANAGERS = ("max", "oracle", "paged")
TIGHT = "tight_"  # of the same manager in scenario A
TIGHT_RATE = 3  # there, requests a second
PUBLISHED = {"oracle": 4089, "paged": 4178}  # tokens a second at 12 requests a second (facts S3)


def measure(settings: Mapping[str, Setting]) -> Work:
    """The load under each manager, and the tight scenario under two of them. Progress counts requests."""
    num, seed = settings["requests"], settings["seed"]
    load = tuple(LONG_PROMPTS.requests(seed, num, settings["rate"]))
    chats = tuple(SHAREGPT.requests(seed, num // 2, TIGHT_RATE))
    runs = [(each, serve(under(SCENARIO_B, each), load)) for each in MANAGERS]
    runs += [(TIGHT + each, serve(under(SCENARIO_A, each), chats)) for each in MANAGERS[1:]]
    results = yield from in_turn(runs, len(runs), num)
    figures = {"rate": settings["rate"], "capacity": results["paged"].capacity}
    for name, result in results.items():
        figures[f"tokens_{name}"] = round(result.tokens_per_second)
        figures[f"batch_{name}"] = round(result.mean_running, 1)
        figures[f"in_slo_{name}"] = percent(result.attainment)
    figures["gain"] = percent(figures["tokens_paged"] / figures["tokens_oracle"] - 1)
    figures["gain_tight"] = percent(figures["tokens_tight_paged"] / figures["tokens_tight_oracle"] - 1)
    figures["published_gain"] = percent(PUBLISHED["paged"] / PUBLISHED["oracle"] - 1)
    shown = {name: results[name] for name in MANAGERS}
    table = _KEYS.table(
        "managers",
        (
            MANAGER,
            THROUGHPUT,
            replace(THROUGHPUT, key=_KEYS.of("column.published"), kind="int"),
            MEAN_BATCH,
            UTILISATION,
            ATTAINMENT,
            LATENCY,
        ),
        (
            (
                manager_key(name),
                round(result.tokens_per_second, 1),
                PUBLISHED.get(name),
                round(result.mean_running, 1),
                percent(result.utilisation),
                percent(result.attainment),
                seconds(result.end_to_end.mean),
            )
            for name, result in shown.items()
        ),
    )
    names = tuple(map(manager_key, shown))
    chart = _KEYS.chart(
        "throughput",
        "bar",
        MANAGER,
        names,
        THROUGHPUT,
        [round(each.tokens_per_second, 1) for each in shown.values()],
    )
    return Result(settings, figures, (table,), (chart,))


def _close_to_oracle(result: Result) -> bool:
    return -3 <= result.figures["gain"] <= 10


def _gain_shrinks(result: Result) -> bool:
    return result.figures["gain_tight"] >= 20 > 2 * result.figures["gain"]


def _more_inside_the_slo(result: Result) -> bool:
    return result.figures["in_slo_paged"] >= result.figures["in_slo_oracle"]


def _max_is_still_bad(result: Result) -> bool:
    figures = result.figures
    return figures["batch_max"] < figures["batch_oracle"] and figures["in_slo_max"] < figures["in_slo_oracle"]


SCENARIO_B_EXPERIMENT = Experiment(
    name="scenario_b",
    subject="serving",
    params=(
        Param("rate", "int", 12, 1, 60, unit=REQUESTS_A_SECOND),
        Param("requests", "int", 600, 100, 2000, unit=REQUESTS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(Preset("twelve_a_second", {}), Preset("other_seed", {"seed": 1})),
    claims=(
        Claim("close_to_oracle", "lecture_radix_3_3", _close_to_oracle),
        Claim("gain_shrinks", "lecture_radix_3_3", _gain_shrinks),
        Claim("more_inside_the_slo", "lecture_radix_3_3", _more_inside_the_slo),
        Claim("max_is_still_bad", "lecture_radix_3_3", _max_is_still_bad),
    ),
    measure=measure,
)
