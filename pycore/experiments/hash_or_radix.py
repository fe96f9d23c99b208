"""Two ways to find a cached prefix: keys of full blocks, or a tree that parts anywhere."""

from collections.abc import Mapping
from itertools import pairwise

from pycore.experiments.block_run import BlockServer
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import BLOCK_SIZE, CACHE, HIT_RATE, HIT_TOKENS, PUBLISHED_HIT_RATE, Keys
from pycore.experiments.prefix_run import PrefixServer
from pycore.experiments.result import TOKENS, Chart, Result, Table, percent
from pycore.workload.common_prompt import common_prompt

_KEYS = Keys("hash_or_radix")

SHARED, OWN, ANSWER = 30, (3, 7), (4, 8)
SIZES = (1, 2, 4, 8, 16, 32)
SHOWN = (1, 4, 16)  # in the table, and published
# The lecture on PagedAttention and vLLM, section 4.3 (facts R9): hit rates in percent.
PUBLISHED = {1: 78.6, 4: 74.6, 16: 61.0}
PUBLISHED_RADIX = 78.6


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves the load over chains of every block size and over a tree, each without limit and capped.

    Progress counts caches.
    """
    load = common_prompt(settings["seed"], settings["requests"], SHARED, OWN, ANSWER, settings["questions"])
    # Enough for all; a multiple of every size.
    unlimited = -(-sum(each.total_len + max(SIZES) for each in load) // max(SIZES)) * max(SIZES)
    capacities = (unlimited, settings["capacity"])
    total = len(SIZES) + 1
    trees = []
    for capacity in capacities:
        tree = PrefixServer("fcfs", capacity, max(each.total_len for each in load))
        for step, each in enumerate(load):
            tree.submit(each, step)
            tree.serve(step)
        trees.append(tree)
    yield 1, total
    chains: dict[int, list[BlockServer]] = {}
    for size in SIZES:
        chains[size] = [BlockServer(capacity // size, size) for capacity in capacities]
        for chain in chains[size]:
            for each in load:
                chain.serve(each)
        yield len(chains) + 1, total
    free, capped = (tree.served() for tree in trees)
    figures = {
        "requests": len(load),
        "shared": SHARED,
        "capacity": settings["capacity"],
        "kept": SHARED * (len(load) - 1),
        "radix": percent(free.hit_rate),
        "radix_tokens": free.hit_tokens,
        "radix_capped_tokens": capped.hit_tokens,
        "radix_visited": trees[0].num_visited,
        "radix_evicted": trees[1].num_evicted,
        "rejected": sum(chain.num_rejected for pair in chains.values() for chain in pair),
        "falls": int(_falls([chains[size][0].hit_tokens for size in SIZES])),
    }
    for size, (whole, small) in chains.items():
        figures[f"hit_{size}"] = percent(whole.hit_rate)
        figures[f"tokens_{size}"] = whole.hit_tokens
        figures[f"capped_tokens_{size}"] = small.hit_tokens
        figures[f"looked_up_{size}"] = whole.num_looked_up
        figures[f"evicted_{size}"] = small.pool.num_evicted * size
    return Result(settings, figures, (_table(trees, chains),), _charts(free.hit_rate, chains))


def _falls(values: list[int]) -> bool:
    return all(larger >= smaller for larger, smaller in pairwise(values))


def _table(trees: list[PrefixServer], chains: Mapping[int, list[BlockServer]]) -> Table:
    columns = (
        CACHE,
        HIT_RATE,
        PUBLISHED_HIT_RATE,
        HIT_TOKENS,
        _KEYS.column("looked_up"),
        _KEYS.column("entries"),
        _KEYS.column("capped", "int", TOKENS),
        _KEYS.column("evicted", "int", TOKENS),
    )
    free, capped = (tree.served() for tree in trees)
    rows = [
        (
            _KEYS.of("cache.radix"),
            percent(free.hit_rate),
            PUBLISHED_RADIX,
            free.hit_tokens,
            trees[0].num_visited,
            trees[0].num_nodes,
            capped.hit_tokens,
            trees[1].num_evicted,
        )
    ]
    for size in SHOWN:
        whole, small = chains[size]
        rates = (percent(whole.hit_rate), PUBLISHED[size], whole.hit_tokens)
        costs = (whole.num_looked_up, len(whole.pool.chain))
        evicted = small.pool.num_evicted * size
        rows.append((_KEYS.of(f"cache.block_{size}"), *rates, *costs, small.hit_tokens, evicted))
    return _KEYS.table("caches", columns, rows)


def _charts(radix: float, chains: Mapping[int, list[BlockServer]]) -> tuple[Chart, ...]:
    hits = {
        _KEYS.of("cache.chain"): [percent(whole.hit_rate) for whole, _ in chains.values()],
        _KEYS.of("cache.radix"): [percent(radix)] * len(chains),
    }
    looked_up = [whole.num_looked_up for whole, _ in chains.values()]
    return (
        _KEYS.chart("hit", "line", BLOCK_SIZE, SIZES, HIT_RATE, hits),
        _KEYS.chart("looked_up", "line", BLOCK_SIZE, SIZES, _KEYS.column("looked_up"), looked_up),
    )


def _falls_with_the_block(result: Result) -> bool:
    figures = result.figures
    return figures["falls"] == 1 and figures["hit_1"] > figures["hit_4"] > figures["hit_16"]


def _radix_is_block_1(result: Result) -> bool:
    return result.figures["radix_tokens"] == result.figures["tokens_1"]


def _near_published(result: Result) -> bool:
    return abs(result.figures["hit_1"] - PUBLISHED[1]) <= 8


def _tree_visits_least(result: Result) -> bool:
    figures = result.figures
    return figures["radix_visited"] < figures["looked_up_4"] < figures["looked_up_1"]


def _beginning_stays(result: Result) -> bool:
    figures = result.figures
    kept = SHARED * (figures["requests"] - 1)
    evicted = min(figures["radix_evicted"], figures["evicted_1"])
    return evicted > 0 and min(figures["radix_capped_tokens"], figures["capped_tokens_1"]) >= kept


HASH_OR_RADIX = Experiment(
    name="hash_or_radix",
    subject="caching",
    params=(
        Param("seed", "int", 5, 0, 9999),
        Param("requests", "int", 12, 2, 200),
        Param("questions", "int", 12, 1, 200),
        Param("capacity", "int", 96, 64, 4096, unit=TOKENS),
    ),
    presets=(
        Preset("twelve_requests", {}),
        Preset("other_seed", {"seed": 1}),
        Preset("ten_questions", {"questions": 10, "capacity": 128}),
    ),
    claims=(
        Claim("falls_with_the_block", "lecture_vllm_4_3", _falls_with_the_block),
        Claim("radix_is_block_1", "lecture_vllm_4_3", _radix_is_block_1),
        Claim("near_published", "lecture_vllm_4_3", _near_published),
        Claim("tree_visits_least", "here", _tree_visits_least),
        Claim("beginning_stays", "here", _beginning_stays),
    ),
    measure=measure,
)
