"""Plain requests, parallel samples and beam searches in one batch, through one scheduler."""

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
    Column,
    Result,
    Table,
    percent,
)
from pycore.request import DECODINGS
from pycore.workload.synthetic import Load, mixed_decoding

_KEYS = Keys("mixed_decoding")
RESERVATIONS = ("max", "pow2", "oracle")


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs the load paged, and contiguous with each reservation."""
    load = mixed_decoding(settings["seed"], STEP_NS)
    size = settings["block_size"]
    blocks = POOL_SLOTS // size
    pairs = [(LoadRun("paged"), MemoryConfig("paged", blocks, size))]
    pairs += [
        (LoadRun(name), MemoryConfig("contiguous", blocks, size, reservation=name)) for name in RESERVATIONS
    ]
    yield from measure_all(pairs, load, settings["seed"])
    runs = [run for run, _ in pairs]
    return Result(settings, _figures(runs, load), _tables(runs, load), _charts(runs))


def _figures(runs: list[LoadRun], load: Load) -> dict[str, int | float]:
    paged, reserve_max = runs[0], runs[1]
    figures: dict[str, int | float] = {
        "requests": len(load.requests),
        "mixed_steps": paged.mixed_steps,
        "steps": paged.steps,
        "finished": paged.finished,
        "preemptions": paged.preemptions,
        "residents_over_max": round(paged.use.mean_residents / reserve_max.use.mean_residents, 1),
    }
    for name, held in paged.decodings.items():
        figures[f"saving_{name}"] = percent(held.saving)
    for run in runs:
        figures[f"residents_{run.name}"] = round(run.use.mean_residents, 1)
        figures[f"steps_{run.name}"] = run.steps
    return figures


def _tables(runs: list[LoadRun], load: Load) -> tuple[Table, ...]:
    memory = _KEYS.table(
        "memory",
        (
            _KEYS.column("memory", "key"),
            _KEYS.column("residents", "float"),
            _KEYS.column("used", "float", PERCENT),
            Column("experiment.part.real", "float", PERCENT),
            _KEYS.column("finished_90", "int", REQUESTS),
            _KEYS.column("steps", "int", STEPS),
            _KEYS.column("preemptions", "int"),
            _KEYS.column("copies", "int"),
        ),
        tuple(
            (
                _KEYS.of(f"memory.{run.name}"),
                round(run.use.mean_residents, 1),
                percent(run.use.mean_share(run.use.real + run.use.reserved + run.use.internal)),
                percent(run.use.utilisation),
                run.finished_90,
                run.steps,
                run.preemptions,
                run.copies,
            )
            for run in runs
        ),
    )
    paged, steps = runs[0], runs[0].steps
    decoding = _KEYS.table(
        "decoding",
        (
            _KEYS.column("decoding", "key"),
            _KEYS.column("requests", "int", REQUESTS),
            _KEYS.column("unshared", "float"),
            _KEYS.column("held", "float"),
            _KEYS.column("saving", "float", PERCENT),
        ),
        tuple(
            (
                _KEYS.of(f"decoding.{name}"),
                sum(request.decoding == name for request in load.requests),
                round(held.unshared / steps, 1),
                round(held.used / steps, 1),
                percent(held.saving),
            )
            for name, held in paged.decodings.items()
        ),
    )
    return (memory, decoding)


def _charts(runs: list[LoadRun]) -> tuple[Chart, ...]:
    decodings = runs[0].decodings
    savings = [percent(held.saving) for held in decodings.values()]
    residents = [round(run.use.mean_residents, 1) for run in runs]
    decoding, memory = _KEYS.column("decoding", "key"), _KEYS.column("memory", "key")
    ways = [_KEYS.of(f"decoding.{name}") for name in decodings]
    memories = [_KEYS.of(f"memory.{run.name}") for run in runs]
    return (
        _KEYS.chart("saving", "bar", decoding, ways, _KEYS.column("saving", "float", PERCENT), savings),
        _KEYS.chart("residents", "bar", memory, memories, _KEYS.column("residents", "float"), residents),
    )


def _one_batch(result: Result) -> bool:
    figures = result.figures
    return figures["mixed_steps"] > 0 and figures["finished"] == figures["requests"]


def _beams_save_most(result: Result) -> bool:
    plain, parallel, beam = (result.figures[f"saving_{name}"] for name in DECODINGS)
    return 0 == plain < parallel < beam


def _more_at_once(result: Result) -> bool:
    return result.figures["residents_over_max"] >= 1.6


def _done_sooner(result: Result) -> bool:
    steps = [result.figures[f"steps_{name}"] for name in ("paged", "oracle", "max")]
    return steps[0] < steps[1] < steps[2]


MIXED_DECODING = Experiment(
    name="mixed_decoding",
    subject="sharing",
    params=(
        Param("seed", "int", 5, 0, 9999),
        Param("block_size", "int", 4, 1, 16, unit=TOKENS),
    ),
    presets=(
        Preset("page", {}),
        Preset("other_seed", {"seed": 1}),
        Preset("third_seed", {"seed": 2}),
        Preset("blocks_of_1", {"block_size": 1}),
    ),
    claims=(
        Claim("one_batch", "paper_4_4", _one_batch),
        Claim("beams_save_most", "paper_6_3", _beams_save_most),
        Claim("more_at_once", "chapter", _more_at_once),
        Claim("done_sooner", "lecture_radix_4_3", _done_sooner),
    ),
    measure=measure,
)
