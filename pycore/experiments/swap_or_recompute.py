"""To give a preempted request its KV back: copy it from the CPU, or compute it again?"""

from collections.abc import Mapping
from dataclasses import replace

from pycore.config import EngineConfig
from pycore.cost_model import NO_DECODES, Chunk, HostLink, Roofline
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import BLOCK_SIZE, Keys
from pycore.experiments.result import MILLISECONDS, PERCENT, REQUESTS, TOKENS, Result, Table, percent
from pycore.experiments.serving_run import (
    ATTAINMENT,
    LATENCY,
    PREEMPTIONS,
    REQUESTS_A_SECOND,
    SCENARIO_A,
    SCENARIO_A_BLOCKS,
    THROUGHPUT,
    in_turn,
    seconds,
    serve,
)
from pycore.replay_result import ReplayResult
from pycore.scheduling.recovery import RECOVERIES
from pycore.specs import H100_SXM, LLAMA_3_8B, LLAMA_3_70B, Deployment
from pycore.workload.poisson import SHAREGPT

_KEYS = Keys("swap_or_recompute")
_CONTEXT = _KEYS.column("context", "int", TOKENS)
_TIME = _KEYS.column("time", "float", MILLISECONDS)

MODELS = {
    "llama_8b": Deployment(LLAMA_3_8B, H100_SXM),
    "opt_13b": SCENARIO_A.deployment,
}
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTEXTS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
# An exercise of the lecture (facts G2): 4,096 tokens over a link of 50 GB/s that costs nothing a block.
EXERCISE_TOKENS = 4096
FREE_COPIES = HostLink(50 * 10**9, per_copy_ns=0)


def _ms(ns: int) -> float:
    return round(ns / 10**6, 1)


def measure(settings: Mapping[str, Setting]) -> Work:
    """Times from the cost model at once; then scenario A both ways. Progress counts requests."""
    deployment, tokens, num = MODELS[settings["model"]], settings["tokens"], settings["requests"]
    models = {size: Roofline(deployment, block_size=size) for size in SIZES}
    recompute = {size: model.recompute_ns(tokens) for size, model in models.items()}
    swap = {size: 2 * model.swap_ns(tokens) for size, model in models.items()}  # out and in
    load = tuple(SHAREGPT.requests(settings["seed"], num, settings["rate"]))
    runs = ((each, serve(_with_recovery(each), load)) for each in RECOVERIES)
    results = yield from in_turn(runs, len(RECOVERIES), num)
    figures = {
        "tokens": tokens,
        "recompute": _ms(recompute[16]),
        "recompute_times": len(set(recompute.values())),
        "swap_1": _ms(swap[1]),
        "swap_16": _ms(swap[16]),
        "swap_256": _ms(swap[256]),
        # The copies of the smallest blocks that are no bandwidth.
        "copies_1": percent(2 * tokens * models[1].host_link.per_copy_ns / swap[1]),
        "crossover": min((size for size in SIZES if swap[size] < recompute[size]), default=0),
        "rate": settings["rate"],
    }
    figures |= _exercise()
    for name, result in results.items():
        figures[f"throughput_{name}"] = round(result.tokens_per_second, 1)
        figures[f"latency_{name}"] = seconds(result.end_to_end.mean)
        figures[f"preemptions_{name}"] = result.num_preemptions
    figures["difference"] = percent(
        abs(results["swap"].end_to_end.mean / results["recompute"].end_to_end.mean - 1)
    )
    by_size = {_KEYS.of("series.recompute"): recompute, _KEYS.of("series.swap"): swap}
    by_context = {
        _KEYS.of("series.recompute"): [_ms(models[16].recompute_ns(each)) for each in CONTEXTS],
        _KEYS.of("series.swap"): [_ms(2 * models[16].swap_ns(each)) for each in CONTEXTS],
        _KEYS.of("series.swap_1"): [_ms(2 * models[1].swap_ns(each)) for each in CONTEXTS],
    }
    charts = (
        _KEYS.chart(
            "size",
            "line",
            BLOCK_SIZE,
            SIZES,
            _TIME,
            {key: [_ms(ns) for ns in times.values()] for key, times in by_size.items()},
        ),
        _KEYS.chart("context", "line", _CONTEXT, CONTEXTS, _TIME, by_context),
    )
    return Result(settings, figures, (_times(recompute, swap), _end_to_end(results)), charts)


def _with_recovery(recovery: str) -> EngineConfig:
    return replace(
        SCENARIO_A,
        memory=replace(SCENARIO_A.memory, cpu_blocks=SCENARIO_A_BLOCKS),
        scheduler=replace(SCENARIO_A.scheduler, recovery=recovery),
    )


def _exercise() -> dict[str, float]:
    """Llama-3 on an H100, the larger one as if it fitted."""
    figures = {"exercise_tokens": EXERCISE_TOKENS}
    for name, model in (("8b", LLAMA_3_8B), ("70b", LLAMA_3_70B)):
        roofline = Roofline(Deployment(model, H100_SXM), host_link=FREE_COPIES)
        figures[f"recompute_{name}"] = _ms(roofline.work_ns(NO_DECODES, (Chunk(0, EXERCISE_TOKENS),)))
        figures[f"swap_{name}"] = _ms(2 * roofline.swap_ns(EXERCISE_TOKENS))
    return figures


def _times(recompute: Mapping[int, int], swap: Mapping[int, int]) -> Table:
    columns = (
        BLOCK_SIZE,
        _KEYS.column("recompute", "float", MILLISECONDS),
        _KEYS.column("swap", "float", MILLISECONDS),
        _KEYS.column("of_recompute", "float", PERCENT),
    )
    rows = (
        (size, _ms(recompute[size]), _ms(swap[size]), percent(swap[size] / recompute[size])) for size in SIZES
    )
    return _KEYS.table("times", columns, rows)


def _end_to_end(results: Mapping[str, ReplayResult]) -> Table:
    columns = (
        _KEYS.column("recovery", "key"),
        PREEMPTIONS,
        _KEYS.column("recomputed", "int", TOKENS),
        _KEYS.column("swapped", "int", TOKENS),
        THROUGHPUT,
        ATTAINMENT,
        LATENCY,
    )
    rows = (
        (
            _KEYS.of(f"series.{name}"),
            result.num_preemptions,
            result.num_recomputed,
            result.num_tokens_swapped,
            round(result.tokens_per_second, 1),
            percent(result.attainment),
            seconds(result.end_to_end.mean),
        )
        for name, result in results.items()
    )
    return _KEYS.table("end_to_end", columns, rows)


def _long_contexts_had_better_be_swapped(result: Result) -> bool:
    """To the digits of facts G1 and G2."""
    names = ("recompute_8b", "swap_8b", "recompute_70b", "swap_70b")
    return [result.figures[name] for name in names] == [89.4, 21.5, 842.3, 53.7]


def _recompute_knows_no_blocks(result: Result) -> bool:
    return result.figures["recompute_times"] == 1


def _small_blocks_are_dear(result: Result) -> bool:
    figures = result.figures
    return figures["copies_1"] >= 50 and figures["swap_1"] >= 2 * figures["swap_16"] > 2 * figures["swap_256"]


def _they_cross(result: Result) -> bool:
    figures = result.figures
    return figures["swap_1"] > figures["recompute"] > figures["swap_16"] and 1 < figures["crossover"] <= 16


def _alike_end_to_end(result: Result) -> bool:
    figures = result.figures
    return (
        figures["difference"] <= 10
        and min(figures["preemptions_swap"], figures["preemptions_recompute"]) >= 100
    )


SWAP_OR_RECOMPUTE = Experiment(
    name="swap_or_recompute",
    subject="serving",
    params=(
        Param("model", "choice", "llama_8b", choices=tuple(MODELS)),
        Param("tokens", "int", 512, 16, 100_000, unit=TOKENS),
        Param("rate", "int", 3, 1, 20, unit=REQUESTS_A_SECOND),
        Param("requests", "int", 400, 100, 2000, unit=REQUESTS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(Preset("short_context", {}), Preset("long_context", {"tokens": 4096, "seed": 0})),
    claims=(
        Claim(
            "long_contexts_had_better_be_swapped",
            "lecture_radix_exercise_4",
            _long_contexts_had_better_be_swapped,
        ),
        Claim("recompute_knows_no_blocks", "lecture_radix_5_2", _recompute_knows_no_blocks),
        Claim("small_blocks_are_dear", "lecture_radix_5_2", _small_blocks_are_dear),
        Claim("they_cross", "here", _they_cross),
        Claim("alike_end_to_end", "lecture_radix_5_2", _alike_end_to_end),
    ),
    measure=measure,
)
