"""Small frozen settings, and the one place where the parts of an engine are wired."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pycore.cost_model import FixedStep
from pycore.engine import Engine
from pycore.events import EventLog, NullLog
from pycore.memory.allocator import KVAllocator
from pycore.memory.block_pool import BlockPool
from pycore.memory.contiguous import RESERVATIONS, ContiguousAllocator
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.paged import PagedAllocator
from pycore.memory.placement import PLACEMENTS
from pycore.memory.swap_space import SwapSpace
from pycore.model_runner import CountingRunner, ModelRunner
from pycore.request import Request
from pycore.rng import Rng
from pycore.scheduling.policies import VICTIM
from pycore.scheduling.scheduler import RECOVERIES, Scheduler

MODES = ("paged", "contiguous")


class ConfigError(ValueError):
    """A setting that no engine can be built with.

    Attributes:
        setting: its name.
        value: what was given.
        expected: what would do, in words.
    """

    def __init__(self, setting: str, value: object, expected: str) -> None:
        super().__init__(f"{setting} is {value!r}, expected {expected}")
        self.setting = setting
        self.value = value
        self.expected = expected


def _require(setting: str, value: object, fine: bool, expected: str) -> None:
    if not fine:
        raise ConfigError(setting, value, expected)


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """The pool and how it is managed.

    Attributes:
        mode: "paged" or "contiguous".
        num_blocks: physical blocks in the pool.
        block_size: token slots a block.
        free_order: paged: one of FREE_ORDERS.
        reservation: contiguous: one of RESERVATIONS.
        placement: contiguous: one of PLACEMENTS.
        prefix_len: paged: tokens of the prefix that the operator keeps in memory; 0: none.
        cpu_blocks: paged: blocks of CPU memory that preempted sequences can be swapped to.

    Raises:
        ConfigError: a value out of range.
    """

    mode: str = "paged"
    num_blocks: int = 64
    block_size: int = 4
    free_order: str = "ascending"
    reservation: str = "max"
    placement: str = "first_fit"
    prefix_len: int = 0
    cpu_blocks: int = 0

    def __post_init__(self) -> None:
        _require("mode", self.mode, self.mode in MODES, "one of " + ", ".join(MODES))
        _require("num_blocks", self.num_blocks, self.num_blocks >= 1, "at least 1 block")
        _require("block_size", self.block_size, self.block_size >= 1, "at least 1 token")
        largest = (self.num_blocks - 1) * self.block_size
        _require("prefix_len", self.prefix_len, 0 <= self.prefix_len <= largest, f"0 to {largest} tokens")
        _require("cpu_blocks", self.cpu_blocks, self.cpu_blocks >= 0, "0 or more blocks")
        for setting, choices in (
            ("free_order", FREE_ORDERS),
            ("reservation", RESERVATIONS),
            ("placement", PLACEMENTS),
        ):
            value = getattr(self, setting)
            _require(setting, value, value in choices, "one of " + ", ".join(choices))


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """Who may run.

    Attributes:
        watermark: share of the pool's blocks that an admission leaves free while others run, 0 to 1. Paged
            only: a contiguous region never grows.
        max_num_seqs: most sequences that run at once.
        victim: one of VICTIM.
        recovery: one of RECOVERIES.

    Raises:
        ConfigError: a value out of range.
    """

    watermark: float = 0.01
    max_num_seqs: int = 256
    victim: str = "latest_arrival"
    recovery: str = "recompute"

    def __post_init__(self) -> None:
        _require("watermark", self.watermark, 0 <= self.watermark <= 1, "a share from 0 to 1")
        _require("max_num_seqs", self.max_num_seqs, self.max_num_seqs >= 1, "at least 1 sequence")
        _require("victim", self.victim, self.victim in VICTIM, "one of " + ", ".join(VICTIM))
        _require("recovery", self.recovery, self.recovery in RECOVERIES, "one of " + ", ".join(RECOVERIES))


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """All that an engine is built from, but for its requests.

    Attributes:
        memory, scheduler: see there.
        max_len: longest prompt plus output in tokens; longer requests are rejected.
        step_ns: time of a step in ns.
        seed: for the shuffled free order.

    Raises:
        ConfigError: a value out of range.
    """

    memory: MemoryConfig = field(default_factory=MemoryConfig)
    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    max_len: int = 2048
    step_ns: int = 50_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        _require("max_len", self.max_len, self.max_len >= 2, "at least 2 tokens")
        _require("step_ns", self.step_ns, self.step_ns >= 1, "at least 1 ns")


def build_allocator(config: EngineConfig, log: EventLog | NullLog) -> KVAllocator:
    """The memory that `config` asks for, empty."""
    memory = config.memory
    if memory.mode == "paged":
        rng = Rng(config.seed).fork("free_order")
        free_list = FREE_ORDERS[memory.free_order](range(memory.num_blocks), rng)
        swap_space = None
        if memory.cpu_blocks:
            swap_space = SwapSpace(
                BlockPool(memory.cpu_blocks, FREE_ORDERS["ascending"](range(memory.cpu_blocks), rng))
            )
        return PagedAllocator(
            BlockPool(memory.num_blocks, free_list),
            memory.block_size,
            log,
            prefix_len=memory.prefix_len,
            swap_space=swap_space,
        )
    placement = PLACEMENTS[memory.placement](memory.num_blocks * memory.block_size)
    return ContiguousAllocator(
        placement, RESERVATIONS[memory.reservation], config.max_len, memory.block_size, log
    )


def build_engine(
    config: EngineConfig,
    requests: Iterable[Request],
    log: EventLog | NullLog,
    make_runner: Callable[[KVAllocator], ModelRunner] | None = None,
) -> Engine:
    """An engine before its first step.

    Args:
        config: the settings.
        requests: in order of arrival.
        log: an EventLog to record from, or a NullLog for speed.
        make_runner: given the memory, makes what chooses the tokens; None: they are only counted.
    """
    allocator = build_allocator(config, log)
    runner = make_runner(allocator) if make_runner else CountingRunner(Rng(config.seed).fork("beams"))
    scheduler = Scheduler(
        allocator,
        VICTIM[config.scheduler.victim],
        max_len=config.max_len,
        max_num_seqs=config.scheduler.max_num_seqs,
        watermark_slots=int(config.scheduler.watermark * config.memory.num_blocks) * config.memory.block_size,
        recovery=config.scheduler.recovery,
        log=log,
    )
    return Engine(requests, scheduler, allocator, runner, FixedStep(config.step_ns), log)
