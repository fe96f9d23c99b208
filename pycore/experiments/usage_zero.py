"""Usage 0 % with a pool full of reusable blocks; and blocks in use that are far from full of tokens."""

from collections.abc import Mapping
from dataclasses import dataclass

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.engine import Engine
from pycore.events import NullLog
from pycore.experiments.admission_run import STEP_NS, as_requests
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import STEP, Keys
from pycore.experiments.result import PERCENT, TOKENS, Chart, Result, Table, percent
from pycore.workload.common_prompt import common_prompt

_KEYS = Keys("usage_zero")

SHARED, OWN, OUTPUT = 0, (18, 40), (8, 24)
AGAIN = 60  # step in which all prompts are asked once more, long after the first answers
STEPS_AT_MOST = 1000
STEPS_AT_ONCE = 16
EVERY = 4  # steps from one position of the chart to the next


@dataclass(frozen=True, slots=True)
class Reading:
    """What can be read of a pool after a step; shares of its blocks or slots, without the null block.

    Attributes:
        running: requests.
        usage: share of blocks that requests hold, as the engine tells it.
        tokens: share of slots with a token of a running request.
        cached: share of blocks that nobody holds and a look-up finds.
        free: share of the others.
    """

    running: int
    usage: float
    tokens: float
    cached: float
    free: float


def read(engine: Engine, num_blocks: int) -> Reading:
    """The pool of an engine; `num_blocks` are all that can be handed out."""
    memory = engine.allocator
    cached = memory.num_cached // memory.block_size
    free = memory.num_free // memory.block_size - cached
    real = sum(seq.num_computed for seq in engine.scheduler.running)
    slots = num_blocks * memory.block_size
    return Reading(
        len(engine.scheduler.running), memory.usage, real / slots, cached / num_blocks, free / num_blocks
    )


def measure(settings: Mapping[str, Setting]) -> Work:
    """Answers requests, waits, and answers the same again, read after every step.

    Progress counts answers.
    """
    load = common_prompt(settings["seed"], settings["requests"], SHARED, OWN, OUTPUT)
    num, size = len(load), settings["block_size"]
    blocks = settings["tokens"] // size
    requests = as_requests(load * 2, [0] * num + [AGAIN] * num)
    memory = MemoryConfig(
        num_blocks=blocks + 1, block_size=size, prefix_cache="hash_chain"
    )  # and a null block
    config = EngineConfig(memory, SchedulerConfig(rules="vllm-v1"), step_ns=STEP_NS)
    engine = build_engine(config, requests, NullLog())
    readings: list[Reading] = []
    while not engine.done and engine.num_steps < STEPS_AT_MOST:
        engine.step()
        readings.append(read(engine, blocks))
        if engine.num_steps == AGAIN:
            before = (engine.allocator.stats.queries, engine.allocator.stats.hits)
        if engine.num_steps % STEPS_AT_ONCE == 0:
            yield engine.scheduler.num_finished, 2 * num
    stats = engine.allocator.stats
    asked, found = stats.queries - before[0], stats.hits - before[1]
    idle = readings[AGAIN - 1]
    apart = max(readings, key=lambda each: each.usage - each.tokens)
    figures = {
        "requests": num,
        "blocks": blocks,
        "block_size": size,
        "idle_running": idle.running,
        "idle_usage": percent(idle.usage),
        "idle_cached": percent(idle.cached),
        "idle_cached_blocks": round(idle.cached * blocks),
        "asked": asked,
        "found": found,
        "found_share": percent(found / asked),
        "usage": percent(apart.usage),
        "tokens": percent(apart.tokens),
        "step": readings.index(apart) + 1,
        "off": max(round(blocks * abs(each.usage + each.cached + each.free - 1)) for each in readings),
    }
    return Result(settings, figures, (_table(idle, apart, readings),), _charts(readings))


def _table(idle: Reading, apart: Reading, readings: list[Reading]) -> Table:
    columns = (
        _KEYS.column("moment", "key"),
        _KEYS.column("running"),
        *(_KEYS.column(name, "float", PERCENT) for name in ("usage", "tokens", "cached", "free")),
    )
    moments = {"first": readings[0], "apart": apart, "idle": idle, "again": readings[AGAIN]}
    rows = [
        (
            _KEYS.of(f"moment.{name}"),
            each.running,
            *(percent(share) for share in (each.usage, each.tokens, each.cached, each.free)),
        )
        for name, each in moments.items()
    ]
    return _KEYS.table("moments", columns, rows)


def _charts(readings: list[Reading]) -> tuple[Chart, ...]:
    steps = range(1, len(readings) + 1, EVERY)
    share = _KEYS.column("share", "float", PERCENT)
    values = {
        _KEYS.of(f"column.{name}"): [percent(getattr(each, name)) for each in readings[::EVERY]]
        for name in ("usage", "tokens", "cached")
    }
    return (_KEYS.chart("steps", "line", STEP, steps, share, values),)


def _zero_and_full(result: Result) -> bool:
    figures = result.figures
    return figures["idle_running"] == 0 == figures["idle_usage"] and figures["idle_cached"] > 50


def _found_again(result: Result) -> bool:
    return result.figures["found_share"] > 30


def _blocks_are_not_tokens(result: Result) -> bool:
    return result.figures["usage"] > result.figures["tokens"] + 5


def _adds_up(result: Result) -> bool:
    return result.figures["off"] == 0


USAGE_ZERO = Experiment(
    name="usage_zero",
    subject="caching",
    params=(
        Param("tokens", "int", 1024, 512, 16_384, unit=TOKENS),
        Param("block_size", "int", 16, 4, 64, unit=TOKENS),
        Param("requests", "int", 20, 1, 60),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("twenty_requests", {}),
        Preset("other_seed", {"seed": 1}),
        Preset("small_blocks", {"block_size": 8}),
    ),
    claims=(
        Claim("zero_and_full", "vllm_v1", _zero_and_full),
        Claim("found_again", "here", _found_again),
        Claim("blocks_are_not_tokens", "users", _blocks_are_not_tokens),
        Claim("adds_up", "here", _adds_up),
    ),
    measure=measure,
)
