"""What a wrong reference count does: nothing fails, and the answer is another one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import Chart, Result, Table

if TYPE_CHECKING:
    from pycore.experiments.refcount_run import RefcountRun

_KEYS = Keys("refcount_bug")


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs the three requests with counts, and as the setting says."""
    from pycore.experiments.refcount_run import READER, REQUESTS, RefcountRun  # needs numpy

    sound, shown = (RefcountRun(guarded, settings["seed"]) for guarded in (True, settings["guard"]))
    done, total = 0, 2 * REQUESTS[READER].output_len
    for run in (sound, shown):
        for _ in run.watch():
            done += 1
            yield done, total
    return Result(settings, _figures(settings, sound, shown), _tables(sound, shown), _charts(sound, shown))


def _figures(
    settings: Mapping[str, Setting], sound: "RefcountRun", shown: "RefcountRun"
) -> dict[str, int | float | str]:
    differing = _differing(sound, shown)
    block, tables, count = shown.found or (-1, 0, 0)
    names, count_later = shown.holders
    return {
        "guard": int(settings["guard"]),
        "tokens": len(sound.answer.tokens),
        "differing": len(differing),
        "first": differing[0] + 1 if differing else 0,
        "found_step": shown.found_step,
        "found": int(bool(shown.found)),
        "block": block,
        "tables": tables,
        "count": count,
        "holders": ", ".join(names) or "–",
        "count_later": count_later,
        "sound_found": int(bool(sound.found)),
    }


def _differing(sound: "RefcountRun", shown: "RefcountRun") -> list[int]:
    pairs = zip(sound.answer.tokens, shown.answer.tokens, strict=True)
    return [at for at, (right, seen) in enumerate(pairs) if right != seen]


def _offs(sound: "RefcountRun", shown: "RefcountRun") -> list[float]:
    """The largest difference between the logits of each token."""
    pairs = zip(sound.answer.logits, shown.answer.logits, strict=True)
    return [round(float(abs(right - seen).max()), 4) for right, seen in pairs]


def _tables(sound: "RefcountRun", shown: "RefcountRun") -> tuple[Table, ...]:
    tokens = zip(sound.answer.tokens, shown.answer.tokens, _offs(sound, shown), strict=True)
    return (
        _KEYS.table(
            "tokens",
            (
                _KEYS.column("number", "int"),
                _KEYS.column("right", "int"),
                _KEYS.column("seen", "int"),
                _KEYS.column("off", "float"),
            ),
            tuple((at + 1, *row) for at, row in enumerate(tokens)),
        ),
    )


def _charts(sound: "RefcountRun", shown: "RefcountRun") -> tuple[Chart, ...]:
    off = _offs(sound, shown)
    number = _KEYS.column("number")
    return (_KEYS.chart("off", "bar", number, range(1, len(off) + 1), _KEYS.column("off", "float"), off),)


def _another_answer(result: Result) -> bool:
    """Without the guard r1 answers otherwise, with it as it should."""
    return (result.figures["differing"] > 0) != bool(result.figures["guard"])


def _check_names_the_block(result: Result) -> bool:
    figures = result.figures
    if figures["guard"]:
        return figures["found"] == 0
    return figures["found"] == 1 and figures["tables"] > figures["count"]


def _found_before_it_shows(result: Result) -> bool:
    figures = result.figures
    return bool(figures["guard"]) or 0 < figures["found_step"] < figures["first"]


def _sound_run_passes(result: Result) -> bool:
    return result.figures["sound_found"] == 0


REFCOUNT_BUG = Experiment(
    name="refcount_bug",
    subject="memory",
    params=(
        Param("guard", "bool", False),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("guard_off", {}),
        Preset("guard_on", {"guard": True}),
        Preset("other_seed", {"seed": 1}),
    ),
    claims=(
        Claim("another_answer", "chapter", _another_answer),
        Claim("check_names_the_block", "chapter", _check_names_the_block),
        Claim("found_before_it_shows", "chapter", _found_before_it_shows),
        Claim("sound_run_passes", "chapter", _sound_run_passes),
    ),
    measure=measure,
    needs=("numpy",),
)
