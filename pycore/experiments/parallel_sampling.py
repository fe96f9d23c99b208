"""Several answers to one prompt: what the shared prompt saves."""

from collections.abc import Mapping
from itertools import pairwise

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.group_run import Samples, parallel_samples
from pycore.experiments.keys import Keys
from pycore.experiments.result import (
    BLOCKS,
    PERCENT,
    SLOTS,
    TOKENS,
    Chart,
    Column,
    Result,
    Table,
    percent,
)

_KEYS = Keys("parallel_sampling")
NUMBERS = (1, 2, 4, 8, 16)
SIZES = (1, 2, 4, 8, 16, 32)

# The lecture on PagedAttention and RadixAttention, section 4.1 (facts T3): samples, prompt, output, block
# size; blocks unshared and shared; saving measured and by the formula without blocks, in percent.
_PUBLISHED_SETTING = (4, 62, 40, 8)
_PUBLISHED = (52, 31, 40.4, 45.6)


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs the published setting, every number of samples, and every block size."""
    prompt, output = settings["prompt"], settings["output"]
    asked = [_PUBLISHED_SETTING, (settings["samples"], prompt, output, settings["block_size"])]
    asked += [(number, prompt, output, settings["block_size"]) for number in NUMBERS]
    asked += [(settings["samples"], prompt, output, size) for size in SIZES]
    found = []
    for each in asked:
        found.append(parallel_samples(*each))
        yield len(found), len(asked)
    published, one, by_number, by_size = found[0], found[1], found[2:7], found[7:]
    return Result(
        settings,
        _figures(published, one, by_number, found),
        _tables(by_number, by_size),
        _charts(by_number, by_size),
    )


def _figures(
    published: Samples, one: Samples, by_number: list[Samples], found: list[Samples]
) -> dict[str, int | float]:
    return {
        "published_unshared": published.unshared,
        "published_shared": published.shared,
        "published_saving": percent(published.saving),
        "published_formula": percent(published.formula),
        "samples": one.num,
        "prompt": one.prompt,
        "block_size": one.block_size,
        "over": one.prompt % one.block_size,
        "copies": one.copies,
        "prompt_blocks": one.after_prompt,
        "prompt_blocks_unshared": one.num * -(-one.prompt // one.block_size),
        "shared": one.shared,
        "shared_slots": one.shared * one.block_size,
        "regions": one.regions,
        "regions_expected": one.num * (one.prompt + one.output),
        "saving": percent(one.saving),
        "saving_2": percent(by_number[1].saving),
        "saving_16": percent(by_number[-1].saving),
        "never_falls": int(all(less.saving <= more.saving for less, more in pairwise(by_number))),
        "runs": len(found),
        "off": sum(
            (each.shared, each.copies) != (each.expected_blocks, each.expected_copies) for each in found
        ),
    }


def _columns(first: Column) -> tuple[Column, ...]:
    return (
        first,
        _KEYS.column("unshared", "int", BLOCKS),
        _KEYS.column("shared", "int", BLOCKS),
        _KEYS.column("saving", "float", PERCENT),
        _KEYS.column("formula", "float", PERCENT),
        _KEYS.column("copies", "int", BLOCKS),
        _KEYS.column("regions", "int", SLOTS),
    )


def _row(x: int, each: Samples) -> tuple:
    saving, formula = percent(each.saving), percent(each.formula)
    return (x, each.unshared, each.shared, saving, formula, each.copies, each.regions)


def _tables(by_number: list[Samples], by_size: list[Samples]) -> tuple[Table, ...]:
    return (
        _KEYS.table(
            "number",
            _columns(_KEYS.column("number", "int")),
            tuple(_row(each.num, each) for each in by_number),
        ),
        _KEYS.table(
            "size",
            _columns(_KEYS.column("size", "int", TOKENS)),
            tuple(_row(each.block_size, each) for each in by_size),
        ),
    )


def _chart(name: str, x: tuple[int, ...], unit: str, found: list[Samples]) -> Chart:
    values = {
        _KEYS.of("column.saving"): [percent(each.saving) for each in found],
        _KEYS.of("column.formula"): [percent(each.formula) for each in found],
    }
    return _KEYS.chart(
        name, "line", _KEYS.column(name, "int", unit), x, _KEYS.axis("saving", PERCENT), values
    )


def _charts(by_number: list[Samples], by_size: list[Samples]) -> tuple[Chart, ...]:
    return (_chart("number", NUMBERS, "", by_number), _chart("size", SIZES, TOKENS, by_size))


def _published_figures(result: Result) -> bool:
    names = ("published_unshared", "published_shared", "published_saving", "published_formula")
    return tuple(result.figures[name] for name in names) == _PUBLISHED


def _last_block_copied(result: Result) -> bool:
    figures = result.figures
    return figures["copies"] == (figures["samples"] - 1 if figures["over"] else 0)


def _prompt_held_once(result: Result) -> bool:
    figures = result.figures
    return figures["prompt_blocks"] == -(-figures["prompt"] // figures["block_size"])


def _counts_by_blocks(result: Result) -> bool:
    return result.figures["runs"] > 0 and result.figures["off"] == 0


def _more_samples_save_more(result: Result) -> bool:
    figures = result.figures
    return figures["never_falls"] == 1 and figures["saving_2"] < figures["saving_16"]


def _regions_share_nothing(result: Result) -> bool:
    figures = result.figures
    return figures["regions"] == figures["regions_expected"] > figures["shared_slots"]


PARALLEL_SAMPLING = Experiment(
    name="parallel_sampling",
    subject="sharing",
    params=(
        Param("samples", "int", 4, 2, 16),
        Param("prompt", "int", 62, 1, 4096, unit=TOKENS),
        Param("output", "int", 40, 1, 512, unit=TOKENS),
        Param("block_size", "int", 8, 1, 64, unit=TOKENS),
    ),
    presets=(
        Preset("published_setting", {}),
        Preset("thousand_tokens", {"prompt": 1000, "output": 20, "block_size": 1}),
        Preset("whole_blocks", {"prompt": 64}),
        Preset("eight_samples", {"samples": 8, "prompt": 161, "output": 338, "block_size": 16}),
    ),
    claims=(
        Claim("published_figures", "lecture_radix_4_1", _published_figures),
        Claim("last_block_copied", "lecture_radix_4_1", _last_block_copied),
        Claim("prompt_held_once", "chapter", _prompt_held_once),
        Claim("counts_by_blocks", "paper_4_4", _counts_by_blocks),
        Claim("more_samples_save_more", "paper_4_4", _more_samples_save_more),
        Claim("regions_share_nothing", "paper_3_1", _regions_share_nothing),
    ),
    measure=measure,
)
