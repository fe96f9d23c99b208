"""Paged blocks against contiguous regions, on the same requests and the same pool of slots."""

from collections.abc import Mapping
from itertools import pairwise

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, SettingError, Work
from pycore.experiments.fragmentation_run import KEYS, PARTS, SETUPS, STEP_NS, SetupRun
from pycore.experiments.result import (
    BLOCKS,
    PERCENT,
    REQUESTS,
    STEPS,
    TOKENS,
    Chart,
    Column,
    Result,
    Table,
)
from pycore.workload.synthetic import LOADS, Load, sharegpt_like

SHAREGPT_LOAD = "sharegpt_1000"
_LOAD_CHOICES = ("chat_burst", "uniform", "long_tail", SHAREGPT_LOAD)

# The lecture on PagedAttention and vLLM, section 2.2 (facts W3): utilisation in percent, and requests that
# external fragmentation held up. It does not publish its lengths or its placement.
PUBLISHED = {"max": (20.1, 0), "pow2": (39.5, 270), "oracle": (60.3, 350)}


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs every setup that is asked for on the load.

    Raises:
        SettingError: the pool cannot hold the longest request of the load.
    """
    load = _load(settings["load"], settings["seed"])
    shortest = -(-load.max_len // settings["block_size"])
    if settings["num_blocks"] < shortest:
        raise SettingError("num_blocks", settings["num_blocks"], f"{shortest}..{_NUM_BLOCKS.maximum}")
    setups = [each for each in SETUPS if settings["placements"] in ("both", each.placement)]
    runs = [SetupRun(setup, load, settings) for setup in setups]
    total = len(runs) * settings["steps"]
    for i, run in enumerate(runs):
        for steps in run.measure():
            yield i * settings["steps"] + steps, total
    return Result(settings, _figures(runs), _tables(runs, settings["load"]), _charts(runs))


def _load(name: str, seed: int) -> Load:
    if name == SHAREGPT_LOAD:
        return sharegpt_like(seed, 1000, rate=4)
    return LOADS[name](seed, STEP_NS)


def _figures(runs: list[SetupRun]) -> dict[str, int | float]:
    figures: dict[str, int | float] = {}
    for run in runs:
        figures[f"utilisation_{run.setup.name}"] = run.utilisation
        figures[f"blocked_{run.setup.name}"] = run.blocked
        figures[f"residents_{run.setup.name}"] = round(run.use.mean_residents, 1)
    paged, first = runs[0].use, runs[1].use
    figures["real_paged"] = round(paged.real / paged.samples)
    figures["real_max"] = round(first.real / first.samples)
    figures["paged_over_max"] = round(paged.utilisation / first.utilisation, 2)
    figures["runs"] = len(runs)
    figures["accounts"] = sum(run.use.samples for run in runs)
    figures["accounts_off"] = sum(run.accounts_off for run in runs)
    return figures


def _tables(runs: list[SetupRun], load: str) -> tuple[Table, ...]:
    setup = KEYS.column("setup", "key")
    memory = KEYS.table(
        "memory",
        (
            setup,
            *(Column(f"experiment.part.{part}", "float", PERCENT) for part in PARTS),
            KEYS.column("real_of_held", "float", PERCENT),
            KEYS.column("while_waiting", "float", PERCENT),
            KEYS.column("residents", "float", REQUESTS),
            KEYS.column("peak_residents", "int", REQUESTS),
        ),
        tuple(run.memory_row() for run in runs),
    )
    requests = KEYS.table(
        "requests",
        (
            setup,
            KEYS.column("finished", "int", REQUESTS),
            KEYS.column("preemptions", "int"),
            KEYS.column("blocked", "int", REQUESTS),
            KEYS.column("steps", "int", STEPS),
        ),
        tuple(run.request_row() for run in runs),
    )
    return (memory, requests) if load != SHAREGPT_LOAD else (memory, requests, _published(runs, setup))


def _published(runs: list[SetupRun], setup: Column) -> Table:
    return KEYS.table(
        "published",
        (
            setup,
            KEYS.column("published_utilisation", "float", PERCENT),
            KEYS.column("utilisation", "float", PERCENT),
            KEYS.column("published_blocked", "int", REQUESTS),
            KEYS.column("blocked", "int", REQUESTS),
        ),
        tuple(
            (run.setup.key, utilisation, run.utilisation, blocked, run.blocked)
            for run in runs
            if run.setup.mode == "contiguous"
            for utilisation, blocked in [PUBLISHED[run.setup.reservation]]
        ),
    )


def _charts(runs: list[SetupRun]) -> tuple[Chart, ...]:
    names = tuple(run.setup.key for run in runs)
    rows = [run.memory_row() for run in runs]
    parts = {f"experiment.part.{part}": [row[1 + i] for row in rows] for i, part in enumerate(PARTS)}
    residents = [round(run.use.mean_residents, 1) for run in runs]
    setup, pool = KEYS.column("setup", "key"), KEYS.axis("pool", PERCENT)
    return (
        KEYS.chart("memory", "stacked_bar", setup, names, pool, parts),
        KEYS.chart("residents", "bar", setup, names, KEYS.column("residents", "float", REQUESTS), residents),
        KEYS.chart(
            "blocked",
            "bar",
            setup,
            names,
            KEYS.column("blocked", "int", REQUESTS),
            [run.blocked for run in runs],
        ),
    )


def _paged_wins(result: Result) -> bool:
    return result.figures["paged_over_max"] >= 1.6


def _knowing_more_helps(result: Result) -> bool:
    names = ("max_first_fit", "pow2_first_fit", "oracle_first_fit", "paged")
    shares = [result.figures[f"utilisation_{name}"] for name in names]
    return all(less < more for less, more in pairwise(shares))


def _equal_holes_never_block(result: Result) -> bool:
    return result.figures["blocked_max_first_fit"] == 0


def _unequal_holes_block(result: Result) -> bool:
    return result.figures["blocked_pow2_first_fit"] > 0 and result.figures["blocked_oracle_first_fit"] > 0


def _accounts_add_up(result: Result) -> bool:
    return result.figures["accounts"] > 0 and result.figures["accounts_off"] == 0


_NUM_BLOCKS = Param("num_blocks", "int", 64, 8, 4096, unit=BLOCKS)

FRAGMENTATION = Experiment(
    name="fragmentation",
    subject="memory",
    params=(
        Param("load", "choice", "chat_burst", choices=_LOAD_CHOICES),
        Param("seed", "int", 5, 0, 9999),
        _NUM_BLOCKS,
        Param("block_size", "int", 4, 1, 64, unit=TOKENS),
        Param("steps", "int", 90, 1, 100_000, unit=STEPS),
        Param("placements", "choice", "both", choices=("both", "first_fit")),
        Param("sample_every", "int", 1, 1, 1000, unit=STEPS),
    ),
    presets=(
        Preset("page", {}),
        Preset("other_seed", {"seed": 2}),
        Preset("long_tail", {"load": "long_tail", "seed": 1}),
        Preset("uniform_tight", {"load": "uniform", "num_blocks": 32}),
        Preset(
            "published_setting",
            {
                "load": SHAREGPT_LOAD,
                "num_blocks": 915,  # of 16 slots: 14,640 of the 14,648 tokens that 12·10⁹ B hold (facts E3)
                "block_size": 16,
                "steps": 100_000,
                "placements": "first_fit",
                "sample_every": 10,
            },
        ),
    ),
    claims=(
        Claim("paged_wins", "chapter", _paged_wins),
        Claim("knowing_more_helps", "lecture_vllm", _knowing_more_helps),
        Claim("equal_holes_never_block", "lecture_vllm", _equal_holes_never_block),
        Claim("unequal_holes_block", "lecture_vllm", _unequal_holes_block),
        Claim("accounts_add_up", "paper_3_1", _accounts_add_up),
    ),
    measure=measure,
)
