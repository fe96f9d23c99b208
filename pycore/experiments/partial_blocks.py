"""Freed blocks that hold nothing of use: put behind the cached ones, they push those out."""

from collections.abc import Mapping

from pycore.experiments.block_run import BlockServer
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import COMPUTED, HIT_RATE, HIT_TOKENS, Keys
from pycore.experiments.result import BLOCKS, Result, percent
from pycore.workload.common_prompt import common_prompt
from pycore.workload.few_shot import Exchange

_KEYS = Keys("partial_blocks")

PLACES = ("front", "tail")
BLOCK, PREFIX = 16, 96
OWN, ANSWER = (4, 8), (2, 4)  # of requests with a prefix: with it, whole blocks and one that is not full
SHORT, SHORT_ANSWER = (4, 8), (2, 6)  # of those without: less than a block in all
ROUNDS = 10


def mixed(seed: int, tasks: int, shorts: int) -> list[Exchange]:
    """Tasks in turn, each request with its task's 96 tokens, and after each some short one-off requests."""
    asked = [common_prompt(seed + 100 * task, ROUNDS, PREFIX, OWN, ANSWER) for task in range(tasks)]
    between = iter(common_prompt(seed + 50, ROUNDS * tasks * shorts, 0, SHORT, SHORT_ANSWER))
    load = []
    for turn in range(ROUNDS):
        for task in range(tasks):
            load.append(asked[task][turn])
            load += [next(between) for _ in range(shorts)]
    return load


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves the same load with freed blocks of no use put in front, and put at the tail.

    Progress counts requests served.
    """
    load = mixed(settings["seed"], settings["tasks"], settings["shorts"])
    servers = {
        place: BlockServer(settings["blocks"], BLOCK, uncached_first=place == "front") for place in PLACES
    }
    over_time: dict[str, list[float]] = {place: [] for place in PLACES}
    every = len(load) // ROUNDS
    for i, (place, server) in enumerate(servers.items()):
        for number, each in enumerate(load, 1):
            server.serve(each)
            if number % every == 0:
                prompts, hits = server.prompt_lens[-every:], server.hit_lens[-every:]
                over_time[place].append(percent(sum(hits) / sum(prompts)))
                yield i * len(load) + number, len(PLACES) * len(load)
    needed = settings["tasks"] * (PREFIX // BLOCK)
    figures = {"blocks": settings["blocks"], "prefix_blocks": needed, "tasks": settings["tasks"]}
    for place, server in servers.items():
        figures |= {
            f"hit_{place}": percent(server.hit_rate),
            f"found_{place}": server.hit_tokens,
            f"evicted_{place}": server.pool.num_evicted,
            f"spared_{place}": server.pool.num_spared,
        }
    columns = (
        _KEYS.column("place", "key"),
        HIT_RATE,
        HIT_TOKENS,
        COMPUTED,
        _KEYS.column("evicted", "int", BLOCKS),
        _KEYS.column("spared", "int", BLOCKS),
    )
    rows = [
        (
            _KEYS.of(f"place.{place}"),
            percent(server.hit_rate),
            server.hit_tokens,
            server.prompt_tokens - server.hit_tokens,
            server.pool.num_evicted,
            server.pool.num_spared,
        )
        for place, server in servers.items()
    ]
    values = {_KEYS.of(f"place.{place}"): each for place, each in over_time.items()}
    rounds = range(1, ROUNDS + 1)
    chart = _KEYS.chart("rounds", "line", _KEYS.column("round"), rounds, HIT_RATE, values)
    return Result(settings, figures, (_KEYS.table("places", columns, rows),), (chart,))


def _useful_pushed_out(result: Result) -> bool:
    figures = result.figures
    return figures["spared_tail"] > 0 and figures["hit_tail"] < figures["hit_front"]


def _front_spares_them(result: Result) -> bool:
    return result.figures["spared_front"] == 0


def _prefixes_would_fit(result: Result) -> bool:
    return result.figures["prefix_blocks"] < result.figures["blocks"]


PARTIAL_BLOCKS = Experiment(
    name="partial_blocks",
    subject="caching",
    params=(
        Param("blocks", "int", 40, 12, 200, unit=BLOCKS),
        Param("tasks", "int", 4, 1, 8),
        Param("shorts", "int", 4, 0, 20),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("short_requests_between", {}),
        Preset("larger_pool", {"blocks": 64, "shorts": 16}),
        Preset("partial_blocks_alone", {"blocks": 25, "shorts": 0}),
    ),
    claims=(
        Claim("prefixes_would_fit", "here", _prefixes_would_fit),
        Claim("useful_pushed_out", "vllm_v1", _useful_pushed_out),
        Claim("front_spares_them", "vllm_v1", _front_spares_them),
    ),
    measure=measure,
)
