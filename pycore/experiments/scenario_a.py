"""Four ways to manage KV memory where it is tight: OPT-13B on an A100 with 40 GB."""

from collections.abc import Generator, Mapping
from dataclasses import replace

from pycore.assembly import build_cost_model
from pycore.config import EngineConfig
from pycore.cost_model import Decodes
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import BLOCKS, PERCENT, REQUESTS, Chart, Result, Table, percent
from pycore.experiments.serving_run import (
    ATTAINMENT,
    LATENCY,
    MANAGER,
    MANAGERS,
    MEAN_BATCH,
    PREEMPTIONS,
    RATE,
    REQUESTS_A_SECOND,
    SCENARIO_A,
    SCENARIO_A_BLOCKS,
    SECOND_NS,
    THROUGHPUT,
    UTILISATION,
    in_turn,
    in_use,
    manager_key,
    seconds,
    serve,
    sustained,
    under,
)
from pycore.largest_rate import LargestRate
from pycore.replay_result import ReplayResult
from pycore.workload.poisson import SHAREGPT

_KEYS = Keys("scenario_a")

# KV space that holds token states: vLLM paper, figure 2 (facts W2), in percent.
PUBLISHED_IN_USE = {"max": 20.4, "pow2": 26.8, "oracle": 38.2, "paged": 96.3}
# Where the search for the largest rate begins, in thousandths of requests a second; no result depends on it.
STARTS = {"max": 400, "pow2": 800, "oracle": 1200, "paged": 2000}
SEARCHED = 400  # requests in a load of the search, at most
TOLERANCE = 50
MAX_RATE_TRIES = 8  # of a search, for the progress bar


def measure(settings: Mapping[str, Setting]) -> Work:
    """The same load under each manager, then the largest rate of each. Progress counts requests."""
    blocks, num, seed = settings["blocks"], settings["requests"], settings["seed"]
    config = replace(SCENARIO_A, memory=replace(SCENARIO_A.memory, num_blocks=blocks))
    searched = min(num, SEARCHED)
    total = len(MANAGERS) * (num + MAX_RATE_TRIES * searched)
    load = tuple(SHAREGPT.requests(seed, num, settings["rate"]))
    runs = ((each, serve(under(config, each), load)) for each in MANAGERS)
    results: dict[str, ReplayResult] = yield from _of(in_turn(runs, len(MANAGERS), num), total)
    rates: dict[str, LargestRate] = {}
    done = len(MANAGERS) * num
    for manager in MANAGERS:
        search = sustained(under(config, manager), seed, searched, STARTS[manager], TOLERANCE)
        rates[manager] = yield from _searching(search, done, searched, total)
        done += MAX_RATE_TRIES * searched
    return Result(
        settings,
        _figures(settings, config, results, rates),
        (_table(results, rates),),
        _charts(results, rates),
    )


def _of(work: Generator, total: int) -> Generator:
    """The same work as a part of one of `total`."""
    try:
        while True:
            yield next(work)[0], total
    except StopIteration as end:
        return end.value


def _searching(search: Generator, done: int, num: int, total: int) -> Generator:
    try:
        while True:
            yield done + min(next(search), MAX_RATE_TRIES) * num, total
    except StopIteration as end:
        return end.value


def _figures(
    settings: Mapping[str, Setting],
    config: EngineConfig,
    results: Mapping[str, ReplayResult],
    rates: Mapping[str, LargestRate],
) -> dict:
    room = settings["blocks"] * config.memory.block_size // SHAREGPT.max_len
    step_ns = build_cost_model(under(config, "max")).work_ns(Decodes(room, room))
    figures = {
        "rate": settings["rate"],
        "requests": settings["requests"],
        "room_max": room,
        "bound_max": round(room * SECOND_NS / step_ns, 1),
        "gain_max": round(rates["paged"].rate / max(1, rates["max"].rate), 1),
        "gain_oracle": round(rates["paged"].rate / max(1, rates["oracle"].rate), 1),
        "batch_gain": round(results["paged"].mean_running / results["max"].mean_running, 1),
        "latency_gain": round(results["max"].end_to_end.mean / results["paged"].end_to_end.mean, 1),
        "running_max": results["max"].max_running,
    }
    for name, result in results.items():
        figures[f"tokens_{name}"] = round(result.tokens_per_second, 1)
        figures[f"batch_{name}"] = round(result.mean_running, 1)
        figures[f"used_{name}"] = percent(result.utilisation)
        figures[f"in_use_{name}"] = percent(in_use(result))
        figures[f"latency_{name}"] = seconds(result.end_to_end.mean)
        figures[f"rate_{name}"] = round(rates[name].rate / 1000, 2)
        figures[f"published_in_use_{name}"] = PUBLISHED_IN_USE[name]
    return figures


def _table(results: Mapping[str, ReplayResult], rates: Mapping[str, LargestRate]) -> Table:
    in_use_column = _KEYS.column("in_use", "float", PERCENT)
    published = _KEYS.column("published_in_use", "float", PERCENT)
    columns = (
        MANAGER,
        THROUGHPUT,
        MEAN_BATCH,
        UTILISATION,
        in_use_column,
        published,
        ATTAINMENT,
        LATENCY,
        PREEMPTIONS,
        _KEYS.column("largest_rate", "float", REQUESTS_A_SECOND),
    )
    rows = (
        (
            manager_key(name),
            round(result.tokens_per_second, 1),
            round(result.mean_running, 1),
            percent(result.utilisation),
            percent(in_use(result)),
            PUBLISHED_IN_USE[name],
            percent(result.attainment),
            seconds(result.end_to_end.mean),
            result.num_preemptions,
            round(rates[name].rate / 1000, 2),
        )
        for name, result in results.items()
    )
    return _KEYS.table("managers", columns, rows)


def _charts(results: Mapping[str, ReplayResult], rates: Mapping[str, LargestRate]) -> tuple[Chart, ...]:
    names = tuple(map(manager_key, results))
    account = {
        _KEYS.of(f"series.{part}"): [percent(each.mean[part] / each.capacity) for each in results.values()]
        for part in ("real", "reserved", "internal", "external", "usable")
    }
    largest = [round(rates[name].rate / 1000, 2) for name in results]
    return (
        _KEYS.chart("rate", "bar", MANAGER, names, RATE, largest),
        _KEYS.chart("pool", "stacked_bar", MANAGER, names, _KEYS.axis("pool", PERCENT), account),
    )


def _max_tops_out(result: Result) -> bool:
    figures = result.figures
    most = figures["bound_max"]
    return figures["running_max"] == figures["room_max"] and 0.85 * most <= figures["tokens_max"] <= most


def _little_of_it_is_real(result: Result) -> bool:
    shares = [result.figures[f"used_{name}"] for name in MANAGERS]
    return shares == sorted(shares) and 12 <= shares[0] <= 25 and 40 <= shares[2] <= 65 and shares[3] >= 70


def _as_in_the_paper(result: Result) -> bool:
    shares = [result.figures[f"in_use_{name}"] for name in MANAGERS]
    return shares == sorted(shares) and shares[0] <= 25 and shares[3] >= 95


def _paged_sustains_more(result: Result) -> bool:
    return result.figures["gain_max"] >= 3 and result.figures["gain_oracle"] >= 1.2


def _the_batch_is_why(result: Result) -> bool:
    return result.figures["batch_gain"] >= 3 and result.figures["latency_gain"] >= 3


SCENARIO_A_EXPERIMENT = Experiment(
    name="scenario_a",
    subject="serving",
    params=(
        Param("rate", "int", 3, 1, 20, unit=REQUESTS_A_SECOND),
        Param("blocks", "int", SCENARIO_A_BLOCKS, 256, 4000, unit=BLOCKS),
        Param("requests", "int", 400, 100, 2000, unit=REQUESTS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("forty_gigabytes", {}),
        # What 12 GB hold: the setting of the other lecture, section 6 (facts S7).
        Preset("twelve_gigabytes", {"blocks": 915, "rate": 4, "requests": 1000}),
    ),
    claims=(
        Claim("max_tops_out", "lecture_radix_3_3", _max_tops_out),
        Claim("little_of_it_is_real", "lecture_radix_3_3", _little_of_it_is_real),
        Claim("as_in_the_paper", "paper_2", _as_in_the_paper),
        Claim("paged_sustains_more", "lecture_radix_3_3", _paged_sustains_more),
        Claim("the_batch_is_why", "lecture_vllm_6", _the_batch_is_why),
    ),
    measure=measure,
)
