"""Which block a prefix cache should give up, on a load of chats and on one that goes round in a circle."""

from collections.abc import Mapping
from dataclasses import replace

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.hit_rate_curve import curve_chart, curve_table, policy_key
from pycore.experiments.keys import HIT_RATE, Keys
from pycore.experiments.result import BLOCKS, PERCENT, REQUESTS, Column, Result, percent
from pycore.hit_rate.block_cache import BLOCK_CACHES
from pycore.hit_rate.hit_rate import CEILING, HitRates, HitRateStudy
from pycore.hit_rate.prefix_trie import prefix_trie
from pycore.workload.block_chats import BLOCK_SIZE, block_chats, block_circle

_KEYS = Keys("eviction_policies")

POLICIES = tuple(BLOCK_CACHES)
LEAVES = tuple(each for each in POLICIES if each not in ("fifo", "optimal"))
USES = ("lru", "slru", "lfu", "optimal")  # policies of the two charts
AGES = ("fifo", "leaf_fifo", "mru", "filo")
SWEEP = (64, 128, 256, 512, 1024)
DOCUMENT_BLOCKS = 8


def measure(settings: Mapping[str, Setting]) -> Work:
    """Every policy over both loads at the capacity asked for, and over a range of capacities for the chats.

    Progress counts requests served.
    """
    capacity, num_requests = settings["capacity"], settings["requests"]
    chats = prefix_trie(block_chats(settings["seed"], num_requests, settings["once"]))
    # More documents than the cache holds, by one in four.
    documents = capacity * 5 // (4 * DOCUMENT_BLOCKS) + 1
    circle = prefix_trie(block_circle(num_requests, documents, DOCUMENT_BLOCKS))
    capacities = sorted({*SWEEP, capacity})
    studies = (
        HitRateStudy(chats, POLICIES, capacities),
        HitRateStudy(circle, POLICIES, [capacity]),
    )
    before = 0
    for study in studies:
        for done, total in study.run():
            yield before + done, total + (before or len(POLICIES) * num_requests)
        before += total
    on_chats, on_circle = (study.result() for study in studies)
    return _result(settings, on_chats, on_circle, documents)


def _at(rates: HitRates, capacity: int) -> dict[str, float]:
    """Hit rate in percent by policy."""
    found = {point.policy: percent(point.hit_rate) for point in rates.points if point.capacity == capacity}
    return {**found, CEILING: percent(rates.ceiling.hit_rate)}


def _result(
    settings: Mapping[str, Setting], on_chats: HitRates, on_circle: HitRates, documents: int
) -> Result:
    capacity = settings["capacity"]
    chats, circle = _at(on_chats, capacity), _at(on_circle, capacity)
    tokens = {
        (load, point.policy): point.hit_tokens
        for load, rates in (("chats", on_chats), ("circle", on_circle))
        for point in rates.points
        if point.capacity == capacity
    }
    figures = {
        "capacity": capacity,
        "cache_tokens": capacity * BLOCK_SIZE,
        "requests": settings["requests"],
        "blocks": on_chats.num_blocks,
        "documents": documents,
        "policies": len(POLICIES),
        **{f"chats_{policy}": share for policy, share in chats.items()},
        **{f"circle_{policy}": share for policy, share in circle.items()},
        "circle_lru_tokens": tokens["circle", "lru"],
        "best_leaf": max(chats[policy] for policy in LEAVES),
        "beaten": sum(tokens[load, "optimal"] < hits for (load, _), hits in tokens.items()),
    }
    columns = (
        _KEYS.column("policy", "key"),
        Column(_KEYS.of("column.chats"), "float", PERCENT),
        Column(_KEYS.of("column.circle"), "float", PERCENT),
    )
    rows = [(policy_key(each), chats[each], circle[each]) for each in (*POLICIES, CEILING)]
    names = [policy_key(each) for each in POLICIES]
    by_load = {
        column.key: [shares[policy] for policy in POLICIES]
        for column, shares in zip(columns[1:], (chats, circle), strict=True)
    }
    charts = (
        _KEYS.chart("loads", "bar", columns[0], names, HIT_RATE, by_load),
        replace(curve_chart(on_chats, USES), key=_KEYS.of("chart.uses")),
        replace(curve_chart(on_chats, AGES), key=_KEYS.of("chart.ages")),
    )
    return Result(settings, figures, (_KEYS.table("loads", columns, rows), curve_table(on_chats)), charts)


def _nobody_beats_the_future(result: Result) -> bool:
    return result.figures["beaten"] == 0 and result.figures["chats_optimal"] > result.figures["best_leaf"]


def _recent_use_on_chats(result: Result) -> bool:
    figures = result.figures
    return figures["chats_lru"] > max(figures["chats_mru"], figures["chats_filo"], figures["chats_lfu"])


def _a_circle_turns_it_round(result: Result) -> bool:
    figures = result.figures
    return figures["circle_lru_tokens"] == 0 and figures["circle_mru"] > 50


def _a_queue_cuts_chains(result: Result) -> bool:
    return result.figures["chats_fifo"] < result.figures["chats_leaf_fifo"]


EVICTION_POLICIES = Experiment(
    name="eviction_policies",
    subject="caching",
    params=(
        Param("capacity", "int", 256, 40, 4000, unit=BLOCKS),
        Param("requests", "int", 1000, 200, 20_000, unit=REQUESTS),
        Param("once", "int", 0, 0, 60, unit=PERCENT),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("chats", {}),
        Preset("half_the_cache", {"capacity": 128}),
        Preset("one_in_four_once", {"once": 25}),
        Preset("seed_1", {"seed": 1}),
    ),
    claims=(
        Claim("nobody_beats_the_future", "belady", _nobody_beats_the_future),
        Claim("recent_use_on_chats", "here", _recent_use_on_chats),
        Claim("a_circle_turns_it_round", "here", _a_circle_turns_it_round),
        Claim("a_queue_cuts_chains", "here", _a_queue_cuts_chains),
    ),
    measure=measure,
)
