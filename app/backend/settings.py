"""Settings as they come from a form, an address or a command line: checked, clamped, and told."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.backend.combinations import CACHES, Value, reconciled
from app.backend.texts import both
from pycore.config import MODES, PREFIX_CACHES, EngineConfig, MemoryConfig, SchedulerConfig
from pycore.memory.contiguous import RESERVATIONS
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.placement import PLACEMENTS
from pycore.prefix_cache.eviction import EVICTION
from pycore.scheduling.policies import VICTIM
from pycore.scheduling.recovery import RECOVERIES
from pycore.scheduling.rules import ALL_QUEUES, RULES
from pycore.specs import GPUS, MODELS, Deployment
from pycore.workload.synthetic import LOADS


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob: its key in the address, its default, and what it may be.

    Attributes:
        default: an int, a float or a choice.
        low, high: bounds of a number, both allowed.
        choices: of a word.
        least: the smallest number that is allowed above `low`.
    """

    default: Value
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    least: float = 0

    @property
    def expected(self) -> str:
        """What it may be, in no language."""
        if self.choices:
            return ", ".join(self.choices)
        gap = f"{self.low:,.10g}, {self.least:,.10g}" if self.least > self.low else f"{self.low:,.10g}"
        return f"{gap} … {self.high:,.10g}"

    def read(self, value: object) -> tuple[Value, str | None]:
        """The nearest allowed value, and what was expected if it is not the one given."""
        if self.choices:
            fine = isinstance(value, str) and value in self.choices
            return (value, None) if fine else (self.default, self.expected)
        number = _number(value, isinstance(self.default, float))
        if number is None:
            return self.default, self.expected
        clamped = min(max(number, self.least if number > self.low else self.low), self.high)
        return clamped, None if clamped == number else self.expected


def _number(value: object, fractional: bool) -> int | float | None:
    """`value` as a finite number, None if it is none; booleans are none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value) if fractional else int(value, 10) if isinstance(value, str) else value
    except (ValueError, OverflowError):
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

_DEPLOYMENT = {
    "model": Setting("Llama-3-8B", choices=tuple(MODELS)),
    "gpu": Setting("A100-80GB-SXM", choices=tuple(GPUS)),
    "tp": Setting(1, 1, 128),
    "wbits": _BITS,
    "kvbits": _BITS,
    "util": Setting(90.0, 1, 100),
}

BY_RULES = "rules"  # the victim that the engine rules name
_SCHEDULING = {
    "rules": Setting("classic", choices=tuple(RULES)),
    "queue": Setting("fcfs", choices=ALL_QUEUES),
    "victim": Setting(BY_RULES, choices=(BY_RULES, *VICTIM)),
    "budget": Setting(0, 0, 1_000_000),
}

# kind of request → key → what it may be. The page's pool is one that can be seen; a trace's is a GPU's: 0
# blocks are as many as fit beside the weights, a step of 0 ms takes as long as it does on that GPU, and a
# longest request of 0 tokens is the model's context. A token budget of 0 is none.
SETTINGS: dict[str, dict[str, Setting]] = {
    "simulate": {
        "sc": Setting("chat_burst", choices=tuple(LOADS)),
        **_ALLOCATOR,
        "bs": Setting(4, 1, 32),
        "blocks": Setting(64, 1, 4096),
        "hold": Setting(0, 0, 1),
        **_SCHEDULING,
        "budget": Setting(0, 0, 4096),
        "cache": Setting("none", choices=PREFIX_CACHES),
        "evict": Setting("lru", choices=tuple(EVICTION)),
        "uncached": Setting("front", choices=("front", "tail")),
        "rec": Setting("recompute", choices=RECOVERIES),
        "cpu": Setting(64, 0, 4096),
        "seed": Setting(5, 0, 9999),
        "steps": Setting(90, 1, 2000),
    },
    "replay": {
        **_ALLOCATOR,
        **_DEPLOYMENT,
        "gpu": Setting("A100-40GB", choices=tuple(GPUS)),
        "bs": Setting(16, 1, 1024),
        "blocks": Setting(0, 0, 10_000_000),
        "seed": Setting(5, 0, 9999),
        "limit": Setting(1000, 1, 10_000_000),
        "maxlen": Setting(0, 0, 10_000_000, least=2),  # a token of the prompt and one of the answer
        "stepms": Setting(0.0, 0, 3_600_000),
        "speed": Setting(1.0, 0.001, 1000),
        "slottft": Setting(2000.0, 0.001, 3_600_000),
        "slotpot": Setting(100.0, 0.001, 3_600_000),
        **_SCHEDULING,
        "rec": Setting("recompute", choices=RECOVERIES),
        "cpu": Setting(2048, 0, 10_000_000),
        "cache": Setting("none", choices=("none", "hash", "radix")),
    },
    "sizing": {
        **_DEPLOYMENT,
        "ctx": Setting(4096, 1, 10_000_000),
        "bs": Setting(16, 1, 1024),
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
    try:
        words = str(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
        words = type(value).__name__
    shown = "".join(c if c.isprintable() else "�" for c in words[:41])
    return shown[:40] + "…" if len(shown) > 40 else shown


def given_settings(request: Mapping[str, object]) -> Mapping[str, object]:
    """The settings of a request, none if what came is no dictionary."""
    settings = request.get("settings")
    return settings if isinstance(settings, dict) else {}


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
        notice("warning", "notice.unknown", setting=key)
        for key in sorted(map(shorten, given.keys() - known.keys()))
    ]
    notices += _reconcile(kind, values, given)
    if kind == "simulate":
        notices += _shorten_recording(values)
    return values, notices


def _caches(values: Mapping[str, Value]) -> tuple[str, ...]:
    """Names of the caches in the kind of request that these are the settings of."""
    return SETTINGS["simulate" if "evict" in values else "replay"]["cache"].choices


def _reconcile(kind: str, values: dict[str, Value], given: Mapping[str, object]) -> list[Notice]:
    """Brings settings together that no engine can be built with; tells of those that were asked for.

    On the page one switches between the modes: what contiguous memory has no use for only rests there, and
    paged memory finds it as it was. `values` are changed in place.
    """
    used, changed = reconciled(values, _caches(values))
    asked = [key for key in changed if given.get(key) is not None]
    if kind == "simulate" and values["mode"] == "contiguous":
        idle = ", ".join(f"{key}={values[key]}" for key in asked)
        return [notice("info", "notice.contiguous", settings=idle)] if idle else []
    notices = []
    for key in asked:
        expected = ", ".join(map(str, changed[key]))
        fields = {"setting": key, "value": values[key], "used": used[key], "expected": expected}
        notices.append(notice("warning", "notice.agree", **fields))
    values.update(used)
    return notices


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
    values: Mapping[str, Value],
    max_len: int,
    step_ns: int,
    prefix_len: int = 0,
    deployment: Deployment | None = None,
) -> EngineConfig:
    """The engine that normalised settings ask for.

    Args:
        values: of "simulate" or "replay".
        max_len, step_ns, deployment: see EngineConfig.
        prefix_len: tokens that the operator would keep in memory; none are kept if they would fill the pool
            or there is a prefix cache.
    """
    values, _ = reconciled(values, _caches(values))
    recovery = values.get("rec", "recompute")
    rules, cache = RULES[values.get("rules", "classic")], CACHES[values.get("cache", "none")]
    largest = (num_blocks(values) - 1 - rules.null_block) * values["bs"] if cache == "none" else 0
    victim = values.get("victim", BY_RULES)
    return EngineConfig(
        memory=MemoryConfig(
            mode=values["mode"],
            num_blocks=num_blocks(values),
            block_size=values["bs"],
            free_order=values["order"],
            reservation=values["res"],
            placement=values["place"],
            prefix_len=prefix_len if prefix_len <= largest else 0,
            cpu_blocks=values.get("cpu", 0) if recovery == "swap" or rules.groups_swap else 0,
            prefix_cache=cache,
            uncached_first=values.get("uncached", "front") == "front",
            # A page shows blocks, so a page of its tree is one; a trace is measured, and reused to the token.
            page_size=values["bs"] if "evict" in values else 1,
            eviction=values.get("evict", "lru"),
        ),
        scheduler=SchedulerConfig(
            watermark=values["wm"] / 100,
            max_num_seqs=values["seqs"],
            recovery=recovery,
            victim=None if victim == BY_RULES else victim,
            rules=values.get("rules", "classic"),
            queue=values.get("queue", "fcfs"),
            token_budget=values.get("budget", 0) or None,
        ),
        max_len=max_len,
        step_ns=step_ns,
        deployment=deployment,
        seed=values["seed"],
    )
