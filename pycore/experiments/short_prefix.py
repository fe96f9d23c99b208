"""A shared prefix that fills no block is never found; nor is the last block of a prompt."""

from collections.abc import Mapping

from pycore.experiments.block_run import BlockServer, serve_all
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import COMPUTED, HIT_RATE, HIT_TOKENS, PROMPT_TOKENS, Keys
from pycore.experiments.prefix_run import PrefixServer, Served
from pycore.experiments.result import TOKENS, Result, percent
from pycore.workload.common_prompt import common_prompt

_KEYS = Keys("short_prefix")

OWN, ANSWER = (20, 40), (4, 8)
POOL = 4096  # tokens: nothing is ever evicted
SMALL_BLOCK = 1
SWEEP = (1, 4, 8, 12, 15, 16, 17, 24, 31, 32, 33, 40, 48)
REPEATED_BLOCKS = 2  # length of the prompt that is asked twice


def _over_blocks(load: tuple, size: int) -> BlockServer:
    return serve_all(BlockServer(POOL // size, size), load)


def _over_tree(load: tuple) -> Served:
    tree = PrefixServer("fcfs", POOL, POOL)
    for step, each in enumerate(load):
        tree.submit(each, step)
        tree.serve(step)
    return tree.served()


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves requests with a prefix in common over blocks, and with each remedy; then over all prefixes.

    Progress counts loads.
    """
    seed, num, size = (settings[name] for name in ("seed", "requests", "block_size"))
    padded = -(-settings["prefix"] // size) * size
    loads = {
        each: common_prompt(seed, num, each, OWN, ANSWER) for each in (*SWEEP, settings["prefix"], padded)
    }
    load = loads[settings["prefix"]]
    total = len(SWEEP) + 1
    runs = {
        "blocks": _over_blocks(load, size),
        "small_blocks": _over_blocks(load, SMALL_BLOCK),
        "padded": _over_blocks(loads[padded], size),
        "radix": _over_tree(load),
    }
    twice = common_prompt(seed, 1, REPEATED_BLOCKS * size, (0, 0), ANSWER) * 2
    repeated = _over_blocks(twice, size).hit_tokens
    yield 1, total
    hits: dict[str, list[float]] = {"blocks": [], "radix": []}
    for i, prefix in enumerate(SWEEP):
        hits["blocks"].append(percent(_over_blocks(loads[prefix], size).hit_rate))
        hits["radix"].append(percent(_over_tree(loads[prefix]).hit_rate))
        yield i + 2, total
    figures = {
        "prefix": settings["prefix"],
        "block_size": size,
        "requests": num,
        "whole": settings["prefix"] // size,
        "padded": padded,
        "shared": settings["prefix"] * (num - 1),
        "repeated": REPEATED_BLOCKS * size,
        "repeated_found": repeated,
    }
    for name, run in runs.items():
        figures[f"found_{name}"] = run.hit_tokens
        figures[f"computed_{name}"] = run.prompt_tokens - run.hit_tokens
    columns = (_KEYS.column("way", "key"), HIT_RATE, HIT_TOKENS, PROMPT_TOKENS, COMPUTED)
    rows = [
        (_KEYS.of(f"way.{name}"), percent(run.hit_rate), run.hit_tokens, run.prompt_tokens, computed)
        for name, run in runs.items()
        for computed in (figures[f"computed_{name}"],)
    ]
    values = {_KEYS.of(f"way.{name}"): each for name, each in hits.items()}
    chart = _KEYS.chart("hit", "line", _KEYS.column("prefix", "int", TOKENS), SWEEP, HIT_RATE, values)
    return Result(settings, figures, (_KEYS.table("ways", columns, rows),), (chart,))


def _whole_blocks_only(result: Result) -> bool:
    figures = result.figures
    found = figures["whole"] * figures["block_size"] * (figures["requests"] - 1)
    return figures["found_blocks"] == found < figures["shared"]


def _tree_finds_all(result: Result) -> bool:
    figures = result.figures
    return figures["found_radix"] == figures["found_small_blocks"] == figures["shared"]


def _padding_pays(result: Result) -> bool:
    return result.figures["computed_padded"] < result.figures["computed_blocks"]


def _last_block_again(result: Result) -> bool:
    figures = result.figures
    return figures["repeated_found"] == figures["repeated"] - figures["block_size"]


SHORT_PREFIX = Experiment(
    name="short_prefix",
    subject="caching",
    params=(
        Param("prefix", "int", 15, 1, 200, unit=TOKENS),
        Param("block_size", "int", 16, 2, 64, unit=TOKENS),
        Param("requests", "int", 20, 2, 60),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("one_token_short", {}),
        Preset("two_blocks_less_one", {"prefix": 31}),
        Preset("large_blocks", {"prefix": 60, "block_size": 64, "requests": 30}),
    ),
    claims=(
        Claim("whole_blocks_only", "vllm_v1", _whole_blocks_only),
        Claim("tree_finds_all", "lecture_vllm_4_3", _tree_finds_all),
        Claim("padding_pays", "here", _padding_pays),
        Claim("last_block_again", "vllm_v1", _last_block_again),
    ),
    measure=measure,
)
