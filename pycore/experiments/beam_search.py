"""Beam search: beams share what they have in common, and that changes in every step."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import (
    BLOCKS,
    PERCENT,
    STEPS,
    TOKENS,
    Chart,
    Result,
    Table,
    percent,
)

if TYPE_CHECKING:
    from pycore.experiments.beam_run import BeamRun

_KEYS = Keys("beam_search")
WIDTHS = (2, 4, 8)

# The lecture on PagedAttention and RadixAttention, section 4.2 (facts T6): blocks saved in percent, mean over
# 30 steps, prompt of about 40 tokens, block 4, random model.
PUBLISHED = {2: 47, 4: 70, 8: 80}


def measure(settings: Mapping[str, Setting]) -> Work:
    """Searches with every width, and once more without any KV."""
    from pycore.experiments.beam_run import BeamRun, make_search, search_from_scratch  # needs numpy

    model, prompt = make_search(settings["seed"], settings["prompt"])
    steps = settings["steps"]
    widths = sorted({*WIDTHS, settings["width"]})
    done, total = 0, 2 * steps * len(widths)
    runs, off = [], 0
    for width in widths:
        run = BeamRun(width)
        for _ in run.watch(model, prompt, steps, settings["block_size"]):
            done += 1
            yield done, total
        search = search_from_scratch(model, prompt, steps, width)
        while True:
            try:
                next(search)
            except StopIteration as end:
                off += run.beams != end.value
                break
            done += 1
            yield done, total
        runs.append(run)
    shown = next(run for run in runs if run.width == settings["width"])
    return Result(
        settings,
        _figures(runs, shown, off),
        (_table(runs),),
        _charts(runs, shown),
        {"tree": shown.tree, "pool": {"used": shown.used, "unshared": shown.unshared}},
    )


def _figures(runs: list["BeamRun"], shown: "BeamRun", off: int) -> dict[str, int | float | str]:
    compared = [run for run in runs if run.width in PUBLISHED]
    return {
        **{f"saving_{run.width}": percent(run.mean_saving) for run in compared},
        "published": " / ".join(str(saving) for saving in PUBLISHED.values()),
        "least_saving": min(percent(run.mean_saving) for run in compared),
        "width": shown.width,
        "saving": percent(shown.mean_saving),
        "peak_used": max(shown.used),
        "peak_unshared": max(shown.unshared),
        "searches": len(runs),
        "beams": sum(len(run.beams) for run in runs),
        "off": off,
        "drops": sum(run.drops for run in runs),
        "freed": sum(run.freed for run in runs),
        "kept": sum(run.kept for run in runs),
        "copies": sum(run.copies for run in runs),
    }


def _table(runs: list["BeamRun"]) -> Table:
    return _KEYS.table(
        "width",
        (
            _KEYS.column("width", "int"),
            _KEYS.column("saving", "float", PERCENT),
            _KEYS.column("published", "int", PERCENT),
            _KEYS.column("peak_unshared", "int", BLOCKS),
            _KEYS.column("peak_used", "int", BLOCKS),
            _KEYS.column("copies", "int", BLOCKS),
            _KEYS.column("drops", "int"),
            _KEYS.column("freed", "int", BLOCKS),
            _KEYS.column("kept", "int", BLOCKS),
        ),
        tuple(
            (
                run.width,
                percent(run.mean_saving),
                PUBLISHED.get(run.width),
                max(run.unshared),
                max(run.used),
                run.copies,
                run.drops,
                run.freed,
                run.kept,
            )
            for run in runs
        ),
    )


def _charts(runs: list["BeamRun"], shown: "BeamRun") -> tuple[Chart, ...]:
    steps = range(1, len(shown.used) + 1)
    step = _KEYS.axis("step", STEPS, "int")
    blocks = {_KEYS.of("series.unshared"): shown.unshared, _KEYS.of("series.used"): shown.used}
    savings = {
        _KEYS.of(f"series.width_{run.width}"): [percent(saving) for saving in run.savings]
        for run in runs
        if run.width in WIDTHS
    }
    return (
        _KEYS.chart("blocks", "line", step, steps, _KEYS.axis("blocks", BLOCKS), blocks),
        _KEYS.chart("saving", "line", step, steps, _KEYS.column("saving", "float", PERCENT), savings),
    )


def _saves_a_third(result: Result) -> bool:
    return result.figures["least_saving"] > 35


def _grows_with_the_width(result: Result) -> bool:
    savings = [result.figures[f"saving_{width}"] for width in WIDTHS]
    return all(less < more for less, more in pairwise(savings))


def _same_beams(result: Result) -> bool:
    return result.figures["beams"] > 0 and result.figures["off"] == 0


def _dropped_frees_its_own(result: Result) -> bool:
    return result.figures["drops"] > 0 and result.figures["kept"] > 0


BEAM_SEARCH = Experiment(
    name="beam_search",
    subject="sharing",
    params=(
        Param("width", "int", 4, 2, 8),
        Param("prompt", "int", 40, 1, 256, unit=TOKENS),
        Param("steps", "int", 30, 2, 64, unit=STEPS),
        Param("block_size", "int", 4, 1, 16, unit=TOKENS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("published_setting", {}),
        Preset("width_8", {"width": 8}),
        Preset("other_seed", {"width": 2, "seed": 1}),
        Preset("short_prompt", {"prompt": 12, "block_size": 2, "seed": 2}),
    ),
    claims=(
        Claim("saves_a_third", "lecture_radix_4_2", _saves_a_third),
        Claim("grows_with_the_width", "lecture_radix_4_2", _grows_with_the_width),
        Claim("same_beams", "lecture_radix_4_2", _same_beams),
        Claim("dropped_frees_its_own", "lecture_vllm_4_2", _dropped_frees_its_own),
    ),
    measure=measure,
    needs=("numpy",),
)
