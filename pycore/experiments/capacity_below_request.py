"""A cache that is smaller than a request finds nothing at all, whatever the order."""

from array import array
from collections.abc import Mapping

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import NullLog
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, SettingError, Work
from pycore.experiments.keys import CAPACITY, HIT_RATE, HIT_TOKENS, ORDER, Keys, order_key
from pycore.experiments.prefix_run import DEPTH_FIRST, Served, serve
from pycore.experiments.result import PERCENT, REQUESTS, TOKENS, Column, Result, percent
from pycore.request import Request
from pycore.workload.few_shot import SYSTEM, Exchange, few_shot

_KEYS = Keys("capacity_below_request")

ORDERS = ("fcfs", "lpm", "dfs_weight", DEPTH_FIRST)
# The capacities of the lecture on PagedAttention and RadixAttention, exercise 5 (facts R4): all below the
# shortest request; and one above the longest.
ZEROS = (300, 500, 650)
ENOUGH = 800
WINDOW = 32


def rejected(load: tuple[Exchange, ...], capacity: int) -> int:
    """How many of the requests an engine turns away whose cache and running requests share this pool."""
    requests = [
        Request(i, 0, len(each.prompt), len(each.output))
        for i, each in enumerate(load)
        if each.total_len - 1 > capacity  # the last token has no KV
    ]
    config = EngineConfig(MemoryConfig(num_blocks=capacity, block_size=1))
    engine = build_engine(config, requests, NullLog())
    while not engine.done:
        engine.step()
    return engine.scheduler.num_rejected


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves the load in four orders at each capacity, and once more behind a request that warms the cache.

    Progress counts requests served.

    Raises:
        SettingError: a capacity that holds some request.
    """
    load = few_shot(settings["seed"], num_each=settings["questions"])
    shortest = min(each.total_len for each in load)
    below = settings["capacity"]
    if below >= shortest:
        raise SettingError("capacity", below, f"{SYSTEM}..{shortest - 1}")
    capacities = tuple(dict.fromkeys((*ZEROS, below, ENOUGH)))
    warm = (Exchange(-1, load[0].prompt[:SYSTEM], array("q")), *load)
    runs = [(load, order, capacity) for capacity in capacities for order in ORDERS]
    runs.append((warm, "fcfs", below))
    total = sum(len(each[0]) for each in runs)
    found: dict[tuple[str, int], Served] = {}
    done = 0
    for requests, order, capacity in runs:
        served = yield from serve(requests, order, capacity, WINDOW, before=done, total=total)
        done += len(requests)
        if requests is load:
            found[order, capacity] = served
    zeros = [run.hit_tokens for (_, capacity), run in found.items() if capacity != ENOUGH]
    figures = {
        "requests": len(load),
        "shortest": shortest,
        "longest": max(each.total_len for each in load),
        "capacity": below,
        "zero_capacities": " / ".join(map(str, capacities[:-1])),
        "zero_runs": len(zeros),
        "zero_hits": sum(zeros),
        "enough": ENOUGH,
        "enough_fcfs": percent(found["fcfs", ENOUGH].hit_rate),
        "enough_depth_first": percent(found[DEPTH_FIRST, ENOUGH].hit_rate),
        "system": SYSTEM,
        "warm_hits": served.hit_tokens,
        "rejected": rejected(load, below),
    }
    columns = [CAPACITY, *(_hit_rate(order) for order in ORDERS), _KEYS.column("rejected", "int", REQUESTS)]
    rates = {order: [percent(found[order, each].hit_rate) for each in capacities] for order in ORDERS}
    turned_away = [rejected(load, each) for each in capacities]
    rows = zip(capacities, *rates.values(), turned_away, strict=True)
    tables = (
        _KEYS.table("zeros", columns, rows),
        _KEYS.table(
            "warm",
            (_KEYS.column("start", "key"), HIT_TOKENS, HIT_RATE),
            (
                (
                    _KEYS.of("start.cold"),
                    found["fcfs", below].hit_tokens,
                    rates["fcfs"][capacities.index(below)],
                ),
                (_KEYS.of("start.warm"), served.hit_tokens, percent(served.hit_rate)),
            ),
        ),
    )
    names = tuple(map(order_key, ORDERS))
    values = {
        _KEYS.of("series.below"): [percent(found[order, below].hit_rate) for order in ORDERS],
        _KEYS.of("series.enough"): [percent(found[order, ENOUGH].hit_rate) for order in ORDERS],
    }
    return Result(settings, figures, tables, (_KEYS.chart("hit", "bar", ORDER, names, HIT_RATE, values),))


def _hit_rate(order: str) -> Column:
    return Column(order_key(order), "float", PERCENT)


def _exact_zeros(result: Result) -> bool:
    return result.figures["zero_runs"] >= len(ZEROS) * len(ORDERS) and result.figures["zero_hits"] == 0


def _not_the_order(result: Result) -> bool:
    return result.figures["enough_depth_first"] > result.figures["enough_fcfs"] > 0


def _warm_start(result: Result) -> bool:
    figures = result.figures
    return figures["warm_hits"] == figures["system"] * figures["requests"]


def _turned_away(result: Result) -> bool:
    return result.figures["rejected"] == result.figures["requests"]


CAPACITY_BELOW_REQUEST = Experiment(
    name="capacity_below_request",
    subject="caching",
    params=(
        Param("capacity", "int", 500, SYSTEM, 659, unit=TOKENS),
        Param("questions", "int", 20, 1, 50),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("published_capacities", {}),
        Preset("just_below", {"capacity": 655}),
        Preset("published_load", {"questions": 50, "capacity": 300, "seed": 1}),
    ),
    claims=(
        Claim("exact_zeros", "lecture_radix_exercise_5", _exact_zeros),
        Claim("not_the_order", "lecture_radix_exercise_5", _not_the_order),
        Claim("warm_start", "here", _warm_start),
        Claim("turned_away", "here", _turned_away),
    ),
    measure=measure,
)
