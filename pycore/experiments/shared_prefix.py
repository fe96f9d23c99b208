"""A system prompt that the operator keeps in memory, and every request that begins with it maps."""

from collections.abc import Mapping

from pycore.config import MemoryConfig
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.load_run import POOL_SLOTS, STEP_NS, LoadRun, measure_all
from pycore.experiments.result import (
    PERCENT,
    REQUESTS,
    STEPS,
    TOKENS,
    Chart,
    Result,
    Table,
    percent,
)
from pycore.workload.synthetic import Load, system_prompt

_KEYS = Keys("shared_prefix")
RUNS = ("kept", "computed", "oracle")


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs the load with the prefix kept in memory, with every request computing it, and contiguous."""
    load = system_prompt(settings["seed"], STEP_NS)
    size = settings["block_size"]
    blocks = POOL_SLOTS // size
    runs = {name: LoadRun(name) for name in RUNS}
    memories = (
        MemoryConfig("paged", blocks, size, prefix_len=load.prefix_len),
        MemoryConfig("paged", blocks, size),
        MemoryConfig("contiguous", blocks, size, reservation="oracle"),
    )
    yield from measure_all(list(zip(runs.values(), memories, strict=True)), load, settings["seed"])
    return Result(settings, _figures(runs, load, size), (_table(runs),), _charts(runs))


def _figures(runs: Mapping[str, LoadRun], load: Load, size: int) -> dict[str, int | float]:
    kept, computed = runs["kept"], runs["computed"]
    behind = sum(request.shared_prefix > 0 for request in load.requests)
    figures: dict[str, int | float] = {
        "prefix": load.prefix_len,
        "requests": len(load.requests),
        "behind": behind,
        "over": load.prefix_len % size,
        "block_size": size,
        "saved_tokens": computed.admitted_tokens - kept.admitted_tokens,
        "saved_share": percent(1 - kept.admitted_tokens / computed.admitted_tokens),
        "prefixes": kept.prefixes,
        "prefix_copies": kept.prefix_copies,
    }
    for name, run in runs.items():
        figures[f"admitted_{name}"] = run.admitted_tokens
        figures[f"residents_{name}"] = round(run.use.mean_residents, 1)
        figures[f"steps_{name}"] = run.steps
    return figures


def _table(runs: Mapping[str, LoadRun]) -> Table:
    return _KEYS.table(
        "runs",
        (
            _KEYS.column("run", "key"),
            _KEYS.column("admitted", "int", TOKENS),
            _KEYS.column("recovered", "int", TOKENS),
            _KEYS.column("residents", "float", REQUESTS),
            _KEYS.column("used", "float", PERCENT),
            _KEYS.column("finished_90", "int", REQUESTS),
            _KEYS.column("steps", "int", STEPS),
            _KEYS.column("preemptions", "int"),
            _KEYS.column("copies", "int"),
        ),
        tuple(
            (
                _KEYS.of(f"run.{name}"),
                run.admitted_tokens,
                run.recovered_tokens,
                round(run.use.mean_residents, 1),
                percent(run.use.mean_share(run.use.real + run.use.reserved + run.use.internal)),
                run.finished_90,
                run.steps,
                run.preemptions,
                run.copies,
            )
            for name, run in runs.items()
        ),
    )


def _charts(runs: Mapping[str, LoadRun]) -> tuple[Chart, ...]:
    names = [_KEYS.of(f"run.{name}") for name in runs]
    tokens = {
        _KEYS.of("column.admitted"): [run.admitted_tokens for run in runs.values()],
        _KEYS.of("column.recovered"): [run.recovered_tokens for run in runs.values()],
    }
    residents = [round(run.use.mean_residents, 1) for run in runs.values()]
    run, held = _KEYS.column("run", "key"), _KEYS.column("residents", "float", REQUESTS)
    return (
        _KEYS.chart("tokens", "stacked_bar", run, names, _KEYS.axis("tokens", TOKENS), tokens),
        _KEYS.chart("residents", "bar", run, names, held, residents),
    )


def _never_computed_again(result: Result) -> bool:
    figures = result.figures
    return figures["saved_tokens"] == figures["prefix"] * figures["behind"] > 0


def _more_at_once(result: Result) -> bool:
    figures = result.figures
    return figures["residents_kept"] > figures["residents_computed"] > figures["residents_oracle"]


def _done_sooner(result: Result) -> bool:
    figures = result.figures
    return figures["steps_kept"] < figures["steps_computed"] < figures["steps_oracle"]


def _last_block_copied(result: Result) -> bool:
    figures = result.figures
    return figures["prefix_copies"] == (figures["prefixes"] if figures["over"] else 0)


SHARED_PREFIX = Experiment(
    name="shared_prefix",
    subject="sharing",
    params=(
        Param("seed", "int", 5, 0, 9999),
        Param("block_size", "int", 4, 1, 16, unit=TOKENS),
    ),
    presets=(
        Preset("page", {}),
        Preset("other_seed", {"seed": 1}),
        Preset("whole_blocks", {"block_size": 2}),
        Preset("larger_blocks", {"block_size": 8}),
    ),
    claims=(
        Claim("never_computed_again", "paper_4_4", _never_computed_again),
        Claim("more_at_once", "paper_4_4", _more_at_once),
        Claim("done_sooner", "lecture_radix_4_3", _done_sooner),
        Claim("last_block_copied", "lecture_radix_4_3", _last_block_copied),
    ),
    measure=measure,
)
