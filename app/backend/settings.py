"""Settings as they come from a form, an address or a command line: checked, clamped, and told."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.backend.texts import both
from pycore.config import MODES, EngineConfig, MemoryConfig, SchedulerConfig
from pycore.memory.contiguous import RESERVATIONS
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.placement import PLACEMENTS
from pycore.scheduling.recovery import RECOVERIES
from pycore.specs import GPUS, MODELS
from pycore.workload.synthetic import LOADS

Value = int | float | str


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob: its key in the address, its default, and what it may be.

    Attributes:
        default: an int, a float or a choice.
        low, high: bounds of a number, both allowed.
        choices: of a word.
    """

    default: Value
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()

    def read(self, value: object) -> tuple[Value, str | None]:
        """The nearest allowed value, and what was expected if it is not the one given."""
        if self.choices:
            fine = isinstance(value, str) and value in self.choices
            return (value, None) if fine else (self.default, ", ".join(self.choices))
        number = _number(value, isinstance(self.default, float))
        expected = f"{self.low:,} … {self.high:,}"
        if number is None:
            return self.default, expected
        clamped = min(max(number, self.low), self.high)
        return clamped, None if clamped == number else expected


def _number(value: object, fractional: bool) -> int | float | None:
    """`value` as a finite number, None if it is none; booleans are none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value) if fractional else int(value, 10) if isinstance(value, str) else value
    except ValueError:
        return None
    if number != number or number in (float("inf"), float("-inf")):
        return None
    if fractional:
        return number
    return int(number) if number == int(number) else None


_ALLOCATOR = {
    "mode": Setting("paged", choices=MODES),
    "res": Setting("max", choices=tuple(RESERVATIONS)),
    "place": Setting("first_fit", choices=tuple(PLACEMENTS)),
    "order": Setting("ascending", choices=tuple(FREE_ORDERS)),
    "wm": Setting(1.0, 0, 50),
    "seqs": Setting(256, 1, 1024),
}

_BITS = Setting("16", choices=("16", "8", "4"))

# The engine's prefix caches as the user calls them → as the configuration does.
CACHES = {"none": "none", "hash": "hash_chain", "radix": "radix"}

# kind of request → key → what it may be. The page's pool is one that can be seen; a trace's is a GPU's:
# 9,508 blocks of 16 tokens are what Llama-3-8B leaves free on an A100-40GB (see pycore/specs).
SETTINGS: dict[str, dict[str, Setting]] = {
    "simulate": {
        "sc": Setting("chat_burst", choices=tuple(LOADS)),
        **_ALLOCATOR,
        "bs": Setting(4, 1, 32),
        "blocks": Setting(64, 1, 4096),
        "hold": Setting(0, 0, 1),
        "rec": Setting("recompute", choices=RECOVERIES),
        "cpu": Setting(64, 0, 4096),
        "seed": Setting(5, 0, 9999),
        "steps": Setting(90, 1, 2000),
    },
    "replay": {
        **_ALLOCATOR,
        "bs": Setting(16, 1, 1024),
        "blocks": Setting(9508, 1, 10_000_000),
        "seed": Setting(5, 0, 9999),
        "limit": Setting(1000, 1, 10_000_000),
        "maxlen": Setting(8192, 2, 10_000_000),
        "stepms": Setting(50.0, 0.001, 3_600_000),
        "cache": Setting("none", choices=tuple(CACHES)),
    },
    "sizing": {
        "model": Setting("Llama-3-8B", choices=tuple(MODELS)),
        "gpu": Setting("A100-80GB-SXM", choices=tuple(GPUS)),
        "tp": Setting(1, 1, 128),
        "wbits": _BITS,
        "kvbits": _BITS,
        "ctx": Setting(4096, 1, 10_000_000),
        "bs": Setting(16, 1, 1024),
        "util": Setting(90.0, 1, 100),
        "seqs": Setting(256, 1, 4096),
        "budget": Setting(2048, 1, 1_000_000),
    },
}

# Blocks × steps of a recording: 1,024 × 2,000 are 61 MB of columns (benchmarks/README.md), enough for a page.
MOST_CELLS = 1024 * 2000
HELD_TOKENS = 256  # slots in the pool while "hold memory constant" is on: 64 blocks of 4
STEP_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell the user.

    Attributes:
        level: "info", "warning" or "error".
        key: of the sentence in the catalogue.
        sentences: by language.
    """

    level: str
    key: str
    sentences: dict[str, str]

    def as_dict(self) -> dict[str, str]:
        """For the page."""
        return {"level": self.level, "key": self.key, **self.sentences}


def notice(level: str, key: str, **fields: object) -> Notice:
    """A notice with its sentence in every language."""
    return Notice(level, key, both(key, **fields))


def told(notices: list[Notice]) -> list[dict[str, str]]:
    """Notices as the page takes them."""
    return [each.as_dict() for each in notices]


def shorten(value: object) -> str:
    """What a user gave, as it may be repeated to them: at most 40 characters, nothing unprintable."""
    shown = "".join(c if c.isprintable() else "�" for c in str(value)[:41])
    return shown[:40] + "…" if len(shown) > 40 else shown


def normalise(kind: str, given: Mapping[str, object]) -> tuple[dict[str, Value], list[Notice]]:
    """Every setting of `kind`, allowed; unknown keys are left out, and each correction is told.

    Args:
        kind: a key of SETTINGS.
        given: words or numbers by key, from anywhere.
    """
    known = SETTINGS[kind]
    values: dict[str, Value] = {}
    notices = []
    for key, setting in known.items():
        if given.get(key) is None:
            values[key] = setting.default
            continue
        values[key], expected = setting.read(given[key])
        if expected is not None:
            fields = {"setting": key, "value": shorten(given[key]), "used": values[key], "expected": expected}
            notices.append(notice("warning", "notice.corrected", **fields))
    notices += [
        notice("warning", "notice.unknown", setting=shorten(key))
        for key in sorted(map(str, given.keys() - known.keys()))
    ]
    if kind == "simulate":
        notices += _shorten_recording(values)
    return values, notices


def _shorten_recording(values: dict[str, Value]) -> list[Notice]:
    """Takes away the steps of a synthetic run that a page could not hold; tells it."""
    blocks, wanted = num_blocks(values), values["steps"]
    values["steps"] = min(wanted, MOST_CELLS // blocks)
    if values["steps"] == wanted:
        return []
    return [
        notice("warning", "notice.steps", blocks=blocks, wanted=wanted, used=values["steps"], most=MOST_CELLS)
    ]


def num_blocks(values: Mapping[str, Value]) -> int:
    """Blocks in the pool: as set, or as many as the held memory makes at this block size."""
    return max(1, HELD_TOKENS // values["bs"]) if values.get("hold") else values["blocks"]


def engine_config(
    values: Mapping[str, Value], max_len: int, step_ns: int, prefix_len: int = 0
) -> EngineConfig:
    """The engine that normalised settings ask for.

    Args:
        values: of "simulate" or "replay".
        max_len, step_ns: see EngineConfig.
        prefix_len: tokens that the operator would keep in memory; none are kept if they would fill the pool.
    """
    recovery = values.get("rec", "recompute")
    largest = (num_blocks(values) - 1) * values["bs"]
    return EngineConfig(
        memory=MemoryConfig(
            mode=values["mode"],
            num_blocks=num_blocks(values),
            block_size=values["bs"],
            free_order=values["order"],
            reservation=values["res"],
            placement=values["place"],
            prefix_len=prefix_len if prefix_len <= largest else 0,
            cpu_blocks=values["cpu"] if recovery == "swap" else 0,
            prefix_cache=CACHES[values.get("cache", "none")] if values["mode"] == "paged" else "none",
        ),
        scheduler=SchedulerConfig(
            watermark=values["wm"] / 100, max_num_seqs=values["seqs"], recovery=recovery
        ),
        max_len=max_len,
        step_ns=step_ns,
        seed=values["seed"],
    )
