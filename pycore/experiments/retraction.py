"""After a retraction SGLang lets nobody in for a while: the batch shrinks, and the queue grows."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from pycore.assembly import build_engine
from pycore.config import EngineConfig, SchedulerConfig
from pycore.events import Admitted, EventLog, Preempted
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import STEP, Keys
from pycore.experiments.result import PERCENT, REQUESTS, SECONDS, STEPS, TOKENS, Chart, Result, Table, percent
from pycore.experiments.serving_run import REQUESTS_A_MINUTE, SCENARIO_A
from pycore.request import Request

_KEYS = Keys("retraction")

MINUTE_NS = 60 * 10**9
PROMPT = 50
SETTLED = 1000  # steps after the first retraction in which the batch is watched
BEFORE = 300  # steps of the picture before it
EVERY = 20  # steps a point
RULES = ("sglang", "prefill-first")


@dataclass(frozen=True, slots=True)
class Watched:
    """One run, step by step.

    Attributes:
        running, waiting: requests after each step.
        free: slots that nobody holds, after each step.
        admitted: steps in which somebody was let in for the first time.
        preempted: steps in which somebody was preempted.
        ended_ns: time of each step's end.
    """

    running: list[int]
    waiting: list[int]
    free: list[int]
    admitted: list[int]
    preempted: list[int]
    ended_ns: list[int]


def measure(settings: Mapping[str, Setting]) -> Work:
    """The same load under SGLang's rules and under the paper's. Progress counts requests."""
    num = settings["requests"]
    load = [Request(i, i * MINUTE_NS // settings["rate"], PROMPT, settings["output"]) for i in range(num)]
    conservativeness = settings["conservativeness"] / 100
    watched: dict[str, Watched] = {}
    for i, rules in enumerate(RULES):
        scheduler = SchedulerConfig(
            rules=rules, **({"conservativeness": conservativeness} if rules == "sglang" else {})
        )
        run = _watch(replace(SCENARIO_A, scheduler=scheduler), load)
        while True:
            try:
                yield i * num + next(run), len(RULES) * num
            except StopIteration as end:
                watched[rules] = end.value
                break
    return Result(settings, _figures(watched), (_table(watched),), (_chart(watched),))


def _watch(config: EngineConfig, load: list[Request]) -> Generator[int, None, Watched]:
    engine = build_engine(config, load, EventLog())
    seen = Watched([], [], [], [], [], [])
    while not engine.done:
        engine.skip_idle()
        engine.step()
        kinds = {type(event) for event in engine.log.drain()}
        if Admitted in kinds:
            seen.admitted.append(len(seen.running))
        if Preempted in kinds:
            seen.preempted.append(len(seen.running))
        seen.running.append(len(engine.scheduler.running))
        seen.waiting.append(len(engine.scheduler.waiting))
        seen.free.append(engine.allocator.num_free)
        seen.ended_ns.append(engine.now_ns)
        if engine.num_steps % 100 == 0:
            yield engine.scheduler.num_finished
    return seen


def _first(seen: Watched) -> int:
    """The step of the first preemption; the last one if there was none."""
    return seen.preempted[0] if seen.preempted else len(seen.running) - 1


def _mean(values: Sequence[int]) -> float:
    """0 if there are none: the run was over before."""
    return sum(values) / max(1, len(values))


def _figures(watched: Mapping[str, Watched]) -> dict:
    figures = {"steps": SETTLED}
    capacity = SCENARIO_A.memory.num_blocks * SCENARIO_A.memory.block_size
    for rules, seen in watched.items():
        name = rules.replace("-", "_")
        at = _first(seen)
        late = slice(at + SETTLED // 2, at + SETTLED)
        next_in = next((step for step in seen.admitted if step > at), at)
        figures |= {
            f"retractions_{name}": len(seen.preempted),
            f"before_{name}": max(seen.running[: at + 1]),
            f"lowest_{name}": min(seen.running[at : at + SETTLED]),
            f"late_{name}": round(_mean(seen.running[late]), 1),
            f"idle_{name}": percent(_mean(seen.free[late]) / capacity),
            f"closed_{name}": next_in - at,
            f"waiting_{name}": seen.waiting[min(at + SETTLED, len(seen.waiting) - 1)],
            f"seconds_{name}": round(seen.ended_ns[-1] / 10**9),
        }
    return figures


def _table(watched: Mapping[str, Watched]) -> Table:
    figures = _figures(watched)
    names = ("retractions", "before", "lowest", "late", "idle", "closed", "waiting", "seconds")
    kinds = dict.fromkeys(("late", "idle"), "float")
    units = {
        **dict.fromkeys(("before", "lowest", "late", "waiting"), REQUESTS),
        "closed": STEPS,
        "idle": PERCENT,
        "seconds": SECONDS,
    }
    columns = [_KEYS.column(name, kinds.get(name, "int"), units.get(name, "")) for name in names]
    rows = (
        (_KEYS.of(f"rules.{rules}"), *(figures[f"{name}_{rules.replace('-', '_')}"] for name in names))
        for rules in watched
    )
    return _KEYS.table("rules", (_KEYS.column("rules", "key"), *columns), rows)


def _chart(watched: Mapping[str, Watched]) -> Chart:
    """Running and waiting around SGLang's first retraction, and who runs under the other rules then."""
    seen = watched["sglang"]
    start = max(0, _first(seen) - BEFORE)
    steps = range(start, min(len(seen.running), start + BEFORE + SETTLED), EVERY)
    lines = {_KEYS.of("series.running"): seen.running, _KEYS.of("series.waiting"): seen.waiting}
    lines[_KEYS.of("series.other")] = watched["prefill-first"].running
    values = {
        key: [line[step] if step < len(line) else None for step in steps] for key, line in lines.items()
    }
    return _KEYS.chart("batch", "line", STEP, tuple(steps), _KEYS.column("requests", "int", REQUESTS), values)


def _the_batch_collapses(result: Result) -> bool:
    figures = result.figures
    return figures["late_sglang"] <= figures["before_sglang"] / 2


def _memory_lies_idle(result: Result) -> bool:
    figures = result.figures
    return figures["closed_sglang"] >= 100 and figures["idle_sglang"] >= max(
        20, 2 * figures["idle_prefill_first"]
    )


def _the_others_do_better(result: Result) -> bool:
    figures = result.figures
    return figures["late_prefill_first"] > figures["late_sglang"] and (
        figures["seconds_prefill_first"] < figures["seconds_sglang"]
    )


RETRACTION = Experiment(
    name="retraction",
    subject="serving",
    params=(
        Param("conservativeness", "int", 30, 0, 300, unit=PERCENT),
        Param("output", "int", 900, 50, 1900, unit=TOKENS),
        Param("rate", "int", 240, 10, 1000, unit=REQUESTS_A_MINUTE),
        Param("requests", "int", 200, 50, 500, unit=REQUESTS),
    ),
    presets=(Preset("optimistic", {}), Preset("more_optimistic", {"conservativeness": 10})),
    claims=(
        Claim("the_batch_collapses", "users", _the_batch_collapses),
        Claim("memory_lies_idle", "sglang_code", _memory_lies_idle),
        Claim("the_others_do_better", "here", _the_others_do_better),
    ),
    measure=measure,
)
