"""The settings of app/backend/settings.py as options: each range, choice and default stands there alone."""

from collections.abc import Mapping

import click

from app.backend.deployment import with_spec_names
from app.backend.request_error import RequestError
from app.backend.settings import SETTINGS, Setting, Value, normalise, shorten
from app.cli.failure import fail
from app.cli.terminal import Terminal
from pycore.memory.contiguous import RESERVATIONS

MANAGER = "--manager"
# how memory is managed, in one word → mode and reservation
MANAGERS: dict[str, dict[str, Value]] = {
    "paged": {"mode": "paged"},
    **{each: {"mode": "contiguous", "res": each} for each in RESERVATIONS},
}
# key of the setting → how the command line spells it
FLAGS = {
    "sc": "--load",
    "mode": "--mode",
    "res": "--reservation",
    "place": "--placement",
    "bs": "--block-size",
    "blocks": "--blocks",
    "hold": "--hold",
    "order": "--order",
    "wm": "--watermark",
    "seqs": "--max-batch",
    "rec": "--recovery",
    "cpu": "--cpu-blocks",
    "seed": "--seed",
    "steps": "--steps",
    "limit": "--limit",
    "maxlen": "--max-len",
    "stepms": "--step-ms",
    "cache": "--cache",
    "evict": "--evict",
    "uncached": "--uncached",
    "model": "--model",
    "gpu": "--gpu",
    "tp": "--tp",
    "wbits": "--weights-bits",
    "kvbits": "--kv-bits",
    "ctx": "--context",
    "util": "--utilisation",
    "budget": "--token-budget",
    "rules": "--rules",
    "queue": "--policy",
    "victim": "--victim",
    "speed": "--speed-up",
    "slottft": "--slo-ttft-ms",
    "slotpot": "--slo-tpot-ms",
}
OTHER_FLAGS = {"seqs": "--max-seqs"}  # the same option by another name
# kind of request → settings that have words of their own there, most of them as 0 means: as the others say
OWN_WORDS: dict[str, tuple[str, ...]] = {
    "simulate": ("budget", "cache"),
    "replay": ("blocks", "maxlen", "stepms", "budget"),
    "sizing": (),
}
# Settings that change nothing in the other mode.
ONLY_IN = {
    "res": "contiguous",
    "place": "contiguous",
    "order": "paged",
    "wm": "paged",
    "rec": "paged",
    "cpu": "paged",
    "cache": "paged",
    "evict": "paged",
    "uncached": "paged",
    "victim": "paged",
}


def setting_options(kind: str, terminal: Terminal, no_default: tuple[str, ...] = ()) -> list[click.Option]:
    """One option for each setting of a kind of request.

    Args:
        kind: a key of SETTINGS.
        terminal: gives the language of the help.
        no_default: keys whose help names no default, as this command has another one.
    """
    options = []
    for key, setting in SETTINGS[kind].items():
        what = terminal.text(f"cli.option.{kind}.{key}" if key in OWN_WORDS[kind] else f"cli.option.{key}")
        if key == "hold":
            options.append(click.Option(["--hold/--no-hold", key], default=None, help=what))
            continue
        if key in no_default:
            may_be = terminal.text("cli.help.allowed", allowed=setting.expected)
        else:
            may_be = terminal.text("cli.help.default", allowed=setting.expected, default=setting.default)
        flags = [FLAGS[key], *([OTHER_FLAGS[key]] if key in OTHER_FLAGS else [])]
        options.append(click.Option([*flags, key], help=f"{what} {may_be}"))
    return options


def checked(kind: str, given: Mapping[str, object]) -> dict[str, Value]:
    """The settings that were given, each as its value.

    Args:
        kind: a key of SETTINGS.
        given: by key of the setting; None where nothing was said.

    Raises:
        RequestError: one is out of range: here it is not corrected as on the page, where one sees it happen.
    """
    values: dict[str, Value] = {}
    for key, setting in SETTINGS[kind].items():
        if given.get(key) is None:
            continue
        values[key], expected = setting.read(given[key])
        if expected is not None:
            fail("cli.error.value", option=FLAGS[key], value=shorten(given[key]), expected=setting.expected)
    return values


def all_settings(kind: str, given: Mapping[str, object]) -> dict[str, Value]:
    """Every setting of a kind of request: those that were given, each as its value, and the others.

    Args:
        kind, given: see `checked`; names of models and GPUs need not be exact, and "manager" stands for mode
            and reservation in one word.

    Raises:
        RequestError: one is out of range, a name is not known, or some go with no engine of the others.
    """
    named = with_spec_names(given)
    manager = named.pop("manager", None)
    if manager is not None:
        if manager not in MANAGERS:
            fail("cli.error.value", option=MANAGER, value=shorten(manager), expected=", ".join(MANAGERS))
        named.update(MANAGERS[str(manager)])
    values, corrected = normalise(kind, checked(kind, named))
    if corrected:
        raise RequestError(corrected[0].sentences)
    return values


def remark_on_idle(given: Mapping[str, object], mode: Value, terminal: Terminal) -> None:
    """Says which of the given settings change nothing."""
    for key, only_in in ONLY_IN.items():
        if given.get(key) is not None and mode != only_in:
            terminal.note(terminal.text("cli.note.idle", option=FLAGS[key], mode=only_in))
    if given.get("hold") and given.get("blocks") is not None:
        terminal.note(terminal.text("cli.note.held"))


def whole_number(flag: str, given: str | None, low: int, high: int) -> int | None:
    """An option's whole number, None if it was not given.

    Raises:
        RequestError: it is none, or out of range.
    """
    if given is None:
        return None
    value, expected = Setting(low, low, high).read(given)
    if expected is not None:
        fail("cli.error.value", option=flag, value=shorten(given), expected=f"{low:,} … {high:,}")
    return int(value)


def numbers(flag: str, given: object, low: int, high: int) -> list[int]:
    """An option's whole numbers, with commas between them; none if it was not given.

    Raises:
        RequestError: one of them is none, or out of range.
    """
    if given is None:
        return []
    return [whole_number(flag, each.strip(), low, high) for each in str(given).split(",")]


def manager_option(terminal: Terminal) -> click.Option:
    """`--manager`."""
    return click.Option([MANAGER], help=terminal.text("cli.option.manager"))


def manager_of(values: Mapping[str, Value]) -> str:
    """The word for mode and reservation of these settings."""
    return "paged" if values["mode"] == "paged" else str(values["res"])


def json_option(terminal: Terminal) -> click.Option:
    """`--json`."""
    return click.Option(["--json", "as_json"], is_flag=True, help=terminal.text("cli.option.json"))


def keep_good_option(terminal: Terminal) -> click.Option:
    """`--strict`, and `--keep-good` (the default): what to do with the bad rows of a trace."""
    return click.Option(["--keep-good/--strict"], default=True, help=terminal.text("cli.option.strict"))
