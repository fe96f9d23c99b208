"""What the size of a block costs: slots wasted in last blocks, and entries in block tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from pycore.assembly import build_allocator, build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import EventLog, NullLog
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import (
    BLOCKS,
    PERCENT,
    REQUESTS,
    TOKENS,
    Chart,
    Column,
    Result,
    Table,
    percent,
)
from pycore.metrics import MemoryUse, recorded_use
from pycore.recorder import record
from pycore.request import Request
from pycore.workload.synthetic import chat_burst, endless_lognormal_lengths

_KEYS = Keys("block_size")
_STEP_NS = 50_000_000

SIZES = (1, 2, 4, 8, 16, 32)
LARGE_SIZES = (64, 256)

# The lecture on PagedAttention and vLLM, section 3.3 (facts E6): mean length in tokens, and the internal
# waste in percent by block size. It publishes the mean, not the distribution.
MEAN_LENGTH = 313
PUBLISHED = {1: 0.0, 16: 2.3, 64: 8.9, 256: 29.0}
# As skewed as the outputs of the ShareGPT-like load (facts section 7).
_SIGMA = 0.8

# The page's pool: 64 blocks of 4 slots, cut into other blocks.
_RUN_SLOTS = 256
_RUN_STEPS = 90

LENGTHS_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One block size over all lengths.

    Attributes:
        size: slots a block.
        tokens, held: sums over the requests, in tokens and slots.
        short_waste, long_waste: slots wasted a request, mean over the shorter and the longer half.
        requests: how many.
    """

    size: int
    tokens: int
    held: int
    short_waste: float
    long_waste: float
    requests: int

    @property
    def waste(self) -> float:
        """Slots wasted a request."""
        return (self.held - self.tokens) / self.requests

    @property
    def share(self) -> float:
        """Wasted slots in percent of the held ones."""
        return percent((self.held - self.tokens) / self.held)

    @property
    def expected_waste(self) -> float:
        """(b − 1) / 2: every fill of the last block as likely as any other."""
        return (self.size - 1) / 2

    @property
    def expected_share(self) -> float:
        """(b − 1) / 2 over the mean length plus (b − 1) / 2, in percent, at the published mean length."""
        return percent(self.expected_waste / (MEAN_LENGTH + self.expected_waste))

    @property
    def table_length(self) -> float:
        """Entries of a block table, mean over the requests."""
        return self.held / self.size / self.requests

    def off(self, waste: float) -> float:
        """How far `waste` is from what is expected, in percent of that; 0 for blocks of one slot."""
        return percent(abs(waste / self.expected_waste - 1)) if self.size > 1 else 0.0


def _held(size: int, lengths: list[int]) -> list[int]:
    """Asks the paged allocator for the slots that each request holds at its end."""
    allocator = build_allocator(EngineConfig(MemoryConfig("paged", 1, size)), NullLog())
    return [allocator.slots_needed(Request(i, 0, length, 1)) for i, length in enumerate(lengths)]


def _outcome(size: int, lengths: list[int], held: list[int]) -> _Outcome:
    """Adds up what the requests hold. `lengths` ascend."""
    waste = [slots - length for slots, length in zip(held, lengths, strict=True)]
    half = len(waste) // 2
    short, long = waste[:half], waste[half:]
    return _Outcome(
        size, sum(lengths), sum(held), sum(short) / len(short), sum(long) / len(long), len(lengths)
    )


def _run(size: int, seed: int) -> MemoryUse:
    """The page's load on the page's pool cut into blocks of `size`."""
    load = chat_burst(seed, _STEP_NS)
    memory = MemoryConfig("paged", _RUN_SLOTS // size, size)
    engine = build_engine(EngineConfig(memory, max_len=load.max_len), load.requests, EventLog())
    return recorded_use(record(engine, _RUN_STEPS))


def measure(settings: Mapping[str, Setting]) -> Work:
    """Measures every block size: on finished lengths, and those up to 32 on a run, too.

    Progress counts the batches of lengths, drawn and then held in blocks of each size, and the runs.
    """
    sizes = SIZES + (LARGE_SIZES if settings["large_blocks"] else ())
    requests = settings["requests"]
    batches = range(0, requests, LENGTHS_AT_ONCE)
    total = len(batches) * (1 + len(sizes)) + len(SIZES)
    done = 0
    endless = endless_lognormal_lengths(settings["seed"], MEAN_LENGTH, _SIGMA)
    lengths: list[int] = []
    for first in batches:
        lengths += islice(endless, min(LENGTHS_AT_ONCE, requests - first))
        done += 1
        yield done, total
    lengths.sort()
    outcomes, uses = [], []
    for size in sizes:
        held: list[int] = []
        for first in batches:
            held += _held(size, lengths[first : first + LENGTHS_AT_ONCE])
            done += 1
            yield done, total
        outcomes.append(_outcome(size, lengths, held))
    for size in SIZES:
        uses.append(_run(size, settings["seed"]))
        done += 1
        yield done, total
    return Result(settings, _figures(outcomes, lengths), _tables(outcomes, uses), _charts(outcomes, uses))


def _figures(outcomes: list[_Outcome], lengths: list[int]) -> dict[str, int | float | str]:
    published = [each for each in outcomes if each.size in PUBLISHED]
    sixteen = next(each for each in outcomes if each.size == 16)
    worst = max(outcomes, key=lambda each: each.off(each.waste))
    halves = max(outcomes, key=lambda each: max(each.off(each.short_waste), each.off(each.long_waste)))
    half = len(lengths) // 2
    return {
        "requests": len(lengths),
        "mean_length": round(sum(lengths) / len(lengths)),
        "waste_16": round(sixteen.waste, 2),
        "worst_size": worst.size,
        "worst_off": worst.off(worst.waste),
        "short_length": round(sum(lengths[:half]) / half),
        "long_length": round(sum(lengths[half:]) / (len(lengths) - half)),
        "short_waste_16": round(sixteen.short_waste, 2),
        "long_waste_16": round(sixteen.long_waste, 2),
        "halves_size": halves.size,
        "halves_off": max(halves.off(halves.short_waste), halves.off(halves.long_waste)),
        "published_sizes": " / ".join(str(each.size) for each in published),
        "published_shares": " / ".join(str(PUBLISHED[each.size]) for each in published),
        "measured_shares": " / ".join(str(each.share) for each in published),
        "published_off": max(round(abs(each.share - PUBLISHED[each.size]), 1) for each in published),
        "table_1": round(outcomes[0].table_length, 1),
        "table_16": round(sixteen.table_length, 1),
        "table_ratio": round(outcomes[0].table_length / sixteen.table_length, 1),
    }


def _tables(outcomes: list[_Outcome], uses: list[MemoryUse]) -> tuple[Table, ...]:
    size = _KEYS.column("size", "int", TOKENS)
    return (
        _KEYS.table(
            "lengths",
            (
                size,
                _KEYS.column("waste", "float", TOKENS),
                _KEYS.column("expected_waste", "float", TOKENS),
                _KEYS.column("short_waste", "float", TOKENS),
                _KEYS.column("long_waste", "float", TOKENS),
                _KEYS.column("share", "float", PERCENT),
                _KEYS.column("expected_share", "float", PERCENT),
                _KEYS.column("published_share", "float", PERCENT),
                _KEYS.column("table_length", "float", BLOCKS),
            ),
            tuple(
                (
                    each.size,
                    round(each.waste, 2),
                    each.expected_waste,
                    round(each.short_waste, 2),
                    round(each.long_waste, 2),
                    each.share,
                    each.expected_share,
                    PUBLISHED.get(each.size),
                    round(each.table_length, 1),
                )
                for each in outcomes
            ),
        ),
        _KEYS.table(
            "run",
            (
                size,
                _KEYS.column("unfilled", "float", PERCENT),
                Column("experiment.part.real", "float", PERCENT),
                _KEYS.column("residents", "float", REQUESTS),
            ),
            tuple(
                (
                    each,
                    percent(1 - use.real_of_held),
                    percent(use.utilisation),
                    round(use.mean_residents, 1),
                )
                for each, use in zip(SIZES, uses, strict=True)
            ),
        ),
    )


def _charts(outcomes: list[_Outcome], uses: list[MemoryUse]) -> tuple[Chart, ...]:
    sizes = tuple(each.size for each in outcomes)
    size = _KEYS.column("size", "int", TOKENS)
    shares = {
        _KEYS.of("column.share"): [each.share for each in outcomes],
        _KEYS.of("column.expected_share"): [each.expected_share for each in outcomes],
    }
    length, unfilled = (
        _KEYS.column("table_length", "float", BLOCKS),
        _KEYS.column("unfilled", "float", PERCENT),
    )
    lengths = [round(each.table_length, 1) for each in outcomes]
    return (
        _KEYS.chart("share", "line", size, sizes, _KEYS.axis("held", PERCENT), shares),
        _KEYS.chart("table", "bar", size, sizes, length, lengths),
        _KEYS.chart("run", "bar", size, SIZES, unfilled, [percent(1 - use.real_of_held) for use in uses]),
    )


def _half_a_block(result: Result) -> bool:
    return result.figures["worst_off"] <= 10


def _whatever_the_length(result: Result) -> bool:
    figures = result.figures
    return figures["long_length"] >= 2 * figures["short_length"] and figures["halves_off"] <= 10


def _published_figures(result: Result) -> bool:
    return result.figures["published_off"] <= 0.5


def _table_shrinks(result: Result) -> bool:
    return 15 <= result.figures["table_ratio"] <= 16


BLOCK_SIZE = Experiment(
    name="block_size",
    subject="memory",
    params=(
        Param("seed", "int", 5, 0, 9999),
        Param("requests", "int", 10_000, 100, 100_000, unit=REQUESTS),
        Param("large_blocks", "bool", False),
    ),
    presets=(
        Preset("small_blocks", {}),
        Preset("published_setting", {"large_blocks": True}),
        Preset("other_seed", {"large_blocks": True, "seed": 1}),
    ),
    claims=(
        Claim("half_a_block", "chapter", _half_a_block),
        Claim("whatever_the_length", "chapter", _whatever_the_length),
        Claim("published_figures", "lecture_vllm_3_3", _published_figures),
        Claim("table_shrinks", "chapter", _table_shrinks),
    ),
    measure=measure,
)
