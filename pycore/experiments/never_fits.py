"""A request that is larger than the pool: who says so, and who hangs."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from pycore.assembly import build_engine
from pycore.config import EngineConfig
from pycore.events import EventLog, Outgrown
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import REQUESTS, STEPS, Result
from pycore.experiments.serving_run import SCENARIO_A
from pycore.request import Request

_KEYS = Keys("never_fits")
_RULES = _KEYS.column("rules", "key")

RULES = ("classic", "vllm-v0", "vllm-v1", "sglang")
MAX_LEN = 32_000
GAP_NS = 2 * 10**9
SMALL = (200, 100)  # prompt and output of the others
# Prompt and output of the one that never fits: its prompt alone is larger, or it only grows to be.
HUGE = {"prompt": (16_000, 100), "growth": (11_000, 6000)}
BEFORE = 5  # requests that come before it
STEPS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        finished, rejected, left: requests; those left would wait for ever.
        steps: until the end, or until it was clear that there is none.
        told: whether the engine's log names a request that has outgrown the pool.
    """

    finished: int
    rejected: int
    left: int
    steps: int
    told: bool


def measure(settings: Mapping[str, Setting]) -> Work:
    """The same requests under the rules of each engine. Progress counts requests."""
    num = settings["requests"]
    sizes = [HUGE[settings["huge"]] if i == BEFORE else SMALL for i in range(num)]
    load = [Request(i, i * GAP_NS, *size) for i, size in enumerate(sizes)]
    found: dict[str, Ended] = {}
    for i, rules in enumerate(RULES):
        config = replace(
            SCENARIO_A, max_len=MAX_LEN, scheduler=replace(SCENARIO_A.scheduler, rules=rules, watermark=None)
        )
        run = _run(config, load)
        while True:
            try:
                yield i * num + next(run), len(RULES) * num
            except StopIteration as end:
                found[rules] = end.value
                break
    figures = {"capacity": SCENARIO_A.memory.num_blocks * SCENARIO_A.memory.block_size, "requests": num}
    figures["needed"] = sum(HUGE[settings["huge"]])
    for rules, ended in found.items():
        name = rules.replace("-", "_")
        figures[f"finished_{name}"] = ended.finished
        figures[f"rejected_{name}"] = ended.rejected
        figures[f"left_{name}"] = ended.left
        figures[f"steps_{name}"] = ended.steps
        figures[f"told_{name}"] = int(ended.told)
    table = _KEYS.table(
        "rules",
        (
            _RULES,
            _KEYS.column("finished", "int", REQUESTS),
            _KEYS.column("rejected", "int", REQUESTS),
            _KEYS.column("left", "int", REQUESTS),
            _KEYS.column("steps", "int", STEPS),
            _KEYS.column("verdict", "key"),
        ),
        (
            (
                _KEYS.of(f"rules.{rules}"),
                ended.finished,
                ended.rejected,
                ended.left,
                ended.steps,
                _KEYS.of("verdict.hangs" if ended.left else "verdict.ends"),
            )
            for rules, ended in found.items()
        ),
    )
    ends = {
        _KEYS.of(f"series.{what}"): [getattr(ended, what) for ended in found.values()]
        for what in ("finished", "rejected", "left")
    }
    names = [_KEYS.of(f"rules.{rules}") for rules in RULES]
    chart = _KEYS.chart("ends", "stacked_bar", _RULES, names, _KEYS.column("requests", "int", REQUESTS), ends)
    return Result(settings, figures, (table,), (chart,))


def _run(config: EngineConfig, load: list[Request]) -> Generator[int, None, Ended]:
    """Steps until all have ended, or until the scheduler knows that those left never will."""
    engine = build_engine(config, load, EventLog())
    scheduler = engine.scheduler
    told = False
    while not engine.done and not scheduler.stuck:
        engine.skip_idle()
        engine.step()
        told = told or any(isinstance(event, Outgrown) for event in engine.log.drain())
        if engine.num_steps % STEPS_AT_ONCE == 0:
            yield scheduler.num_finished + scheduler.num_rejected
    left = len(load) - scheduler.num_finished - scheduler.num_rejected
    return Ended(scheduler.num_finished, scheduler.num_rejected, left, engine.num_steps, told)


def _v1_hangs_with_all_behind(result: Result) -> bool:
    figures = result.figures
    return figures["left_vllm_v1"] > 1 and figures["rejected_vllm_v1"] == 0


def _here_it_is_told(result: Result) -> bool:
    return result.figures["told_vllm_v1"] == 1


def _the_others_turn_it_away(result: Result) -> bool:
    return all(
        (result.figures[f"rejected_{each}"], result.figures[f"left_{each}"]) == (1, 0)
        for each in ("classic", "vllm_v0", "sglang")
    )


NEVER_FITS = Experiment(
    name="never_fits",
    subject="serving",
    params=(
        Param("huge", "choice", "prompt", choices=tuple(HUGE)),
        Param("requests", "int", 40, 10, 200, unit=REQUESTS),
    ),
    presets=(Preset("prompt_too_long", {}), Preset("outgrows_the_pool", {"huge": "growth"})),
    claims=(
        Claim("v1_hangs_with_all_behind", "users", _v1_hangs_with_all_behind),
        Claim("here_it_is_told", "here", _here_it_is_told),
        Claim("the_others_turn_it_away", "engine_code", _the_others_turn_it_away),
    ),
    measure=measure,
)
