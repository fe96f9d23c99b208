"""Four fifths of the prompt tokens found, half of the prefill time saved: where the rest goes."""

from collections.abc import Mapping

from pycore.cost_model import CostModel, Roofline
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import COMPUTED, HIT_RATE, ORDER, PREFILL_TIME, Keys, order_key
from pycore.experiments.prefill_time import prefill_ns, prefills_ns, seconds, weights_ns
from pycore.experiments.prefix_run import DEPTH_FIRST, Served, serve
from pycore.experiments.result import MILLISECONDS, PERCENT, SECONDS, TOKENS, Chart, Result, Table, percent
from pycore.specs import LLAMA_3_8B, Deployment, find_gpu
from pycore.workload.few_shot import few_shot

_KEYS = Keys("hit_rate_is_not_time")

GPUS = {"h100": "H100-SXM", "a100": "A100-80GB-SXM", "l4": "L4"}
ORDERS = ("fcfs", "lpm", DEPTH_FIRST)
WINDOW = 32
# The lecture on PagedAttention and RadixAttention, section 7.3 (facts R7): seconds, at a capacity of 2,000 on
# an H100. The bands are those of the hit rates over seeds.
PUBLISHED = {"none": 5.58, "fcfs": 3.95, "lpm": 2.71}
BAND = 0.05
PROMPT = 659  # the mean prompt
CACHED = (0, 100, 200, 300, 400, 500, 600, 650)
NO_CACHE = _KEYS.of("order.none")


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves the load in three orders and times every prefill; then one prefill by what is cached of it.

    Progress counts requests served.
    """
    load = few_shot(settings["seed"])
    cost = Roofline(Deployment(LLAMA_3_8B, find_gpu(GPUS[settings["gpu"]])))
    found: dict[str, Served] = {}
    for i, order in enumerate(ORDERS):
        found[order] = yield from serve(
            load, order, settings["capacity"], WINDOW, before=i * len(load), total=len(ORDERS) * len(load)
        )
    lens = found["fcfs"].prompt_lens
    times = {"none": prefills_ns(cost, lens)}
    times |= {order: prefills_ns(cost, run.prompt_lens, run.hit_lens) for order, run in found.items()}
    floor = weights_ns(cost) * len(load)
    figures = {
        "requests": len(load),
        "capacity": settings["capacity"],
        "floor": seconds(floor),
        "floor_share": percent(floor / times["lpm"]),
        "weights_ms": round(weights_ns(cost) / 10**6, 2),
        "prompt_ms": round(prefill_ns(cost, PROMPT) / 10**6, 2),
        "mostly_cached_ms": round(prefill_ns(cost, PROMPT, CACHED[-1]) / 10**6, 2),
        "mostly_cached": CACHED[-1],
        "prompt": PROMPT,
    }
    for name, ns in times.items():
        figures[f"time_{name}"] = seconds(ns)
        figures[f"saved_{name}"] = percent(1 - ns / times["none"])
    for order, run in found.items():
        figures[f"hit_{order}"] = percent(run.hit_rate)
    return Result(settings, figures, (_table(found, times),), _charts(cost, found, times))


def _table(found: Mapping[str, Served], times: Mapping[str, int]) -> Table:
    columns = (
        ORDER,
        HIT_RATE,
        COMPUTED,
        PREFILL_TIME,
        _KEYS.column("published", "float", SECONDS),
        _KEYS.column("saved", "float", PERCENT),
    )
    prompts = found["fcfs"].prompt_tokens
    rows = [(NO_CACHE, 0.0, prompts, seconds(times["none"]), PUBLISHED["none"], 0.0)]
    for order, run in found.items():
        saved = percent(1 - times[order] / times["none"])
        shown = (seconds(times[order]), PUBLISHED.get(order), saved)
        rows.append((order_key(order), percent(run.hit_rate), run.computed, *shown))
    return _KEYS.table("times", columns, rows)


def _charts(cost: CostModel, found: Mapping[str, Served], times: Mapping[str, int]) -> tuple[Chart, ...]:
    values = {
        HIT_RATE.key: [percent(run.hit_rate) for run in found.values()],
        _KEYS.of("column.saved"): [percent(1 - times[order] / times["none"]) for order in found],
    }
    by_cached = {
        _KEYS.of("series.prefill"): [round(prefill_ns(cost, PROMPT, each) / 10**6, 2) for each in CACHED],
        _KEYS.of("series.weights"): [round(weights_ns(cost) / 10**6, 2)] * len(CACHED),
    }
    share = _KEYS.column("share", "float", PERCENT)
    names = tuple(map(order_key, found))
    cached, time = _KEYS.column("cached", "int", TOKENS), _KEYS.column("prefill", "float", MILLISECONDS)
    return (
        _KEYS.chart("saved", "bar", ORDER, names, share, values),
        _KEYS.chart("cached", "line", cached, CACHED, time, by_cached),
    )


def _published_times(result: Result) -> bool:
    return all(
        abs(result.figures[f"time_{name}"] - published) <= BAND * published
        for name, published in PUBLISHED.items()
    )


def _saving_below_hit_rate(result: Result) -> bool:
    figures = result.figures
    return all(figures[f"saved_{order}"] < figures[f"hit_{order}"] - 5 for order in ORDERS)


def _weights_are_the_floor(result: Result) -> bool:
    figures = result.figures
    return figures["time_lpm"] >= figures["floor"] and figures["floor_share"] > 80


HIT_RATE_IS_NOT_TIME = Experiment(
    name="hit_rate_is_not_time",
    subject="caching",
    params=(
        Param("capacity", "int", 2000, 100, 50_000, unit=TOKENS),
        Param("gpu", "choice", "h100", choices=tuple(GPUS)),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("published_setting", {}),
        Preset("seed_1", {"seed": 1}),
        Preset("seed_2", {"seed": 2}),
    ),
    claims=(
        Claim("published_times", "lecture_radix_7_3", _published_times),
        Claim("saving_below_hit_rate", "lecture_radix_7_3", _saving_below_hit_rate),
        Claim("weights_are_the_floor", "lecture_radix_7_3", _weights_are_the_floor),
    ),
    measure=measure,
)
