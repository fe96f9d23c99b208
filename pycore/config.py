"""Small frozen settings of an engine, each checked as it is made."""

from dataclasses import dataclass, field

from pycore.cost_model import DEFAULT_EFFICIENCY, Efficiency
from pycore.memory.contiguous import RESERVATIONS
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.placement import PLACEMENTS
from pycore.prefix_cache.block_hash import BLOCK_HASHES
from pycore.prefix_cache.eviction import EVICTION
from pycore.scheduling.policies import VICTIM
from pycore.scheduling.queue_order import CACHE_AWARE, PLAIN, OrderRules
from pycore.scheduling.queue_order import SGLANG as SGLANG_ORDER
from pycore.scheduling.recovery import RECOVERIES
from pycore.scheduling.rules import RULES
from pycore.specs import Deployment

MODES = ("paged", "contiguous")
PREFIX_CACHES = ("none", "hash_chain", "radix")


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


def _require_whole(config: object, *settings: str) -> None:
    for setting in settings:
        value = getattr(config, setting)
        _require(setting, value, type(value) is int, "a whole number")


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """The pool and how it is managed.

    Attributes:
        mode: "paged" or "contiguous".
        num_blocks: physical blocks in the pool.
        block_size: token slots a block.
        free_order: paged: one of FREE_ORDERS; with a hash chain free blocks are a queue instead.
        reservation: contiguous: one of RESERVATIONS.
        placement: contiguous: one of PLACEMENTS.
        prefix_len: paged: tokens of the prefix that the operator keeps in memory; 0: none.
        cpu_blocks: paged: blocks of CPU memory that preempted sequences can be swapped to.
        prefix_cache: paged: one of PREFIX_CACHES: whether the beginning of a prompt is found again.
        block_hash: hash chain: one of BLOCK_HASHES.
        uncached_first: hash chain: whether freed blocks of no use are handed out first (see FreeQueue).
        page_size: radix: tokens a page, a divisor of the block size. The pool is cut into pages, which are
            its blocks from there on; a prefix is found again to the page.
        eviction: radix: one of EVICTION: which leaf is given up first.

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
    prefix_cache: str = "none"
    block_hash: str = "blake2b"
    uncached_first: bool = True
    page_size: int = 1
    eviction: str = "lru"

    def __post_init__(self) -> None:
        _require_whole(self, "num_blocks", "block_size", "prefix_len", "cpu_blocks", "page_size")
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
            ("prefix_cache", PREFIX_CACHES),
            ("block_hash", BLOCK_HASHES),
            ("eviction", EVICTION),
        ):
            value = getattr(self, setting)
            _require(setting, value, value in choices, "one of " + ", ".join(choices))
        if self.prefix_cache != "none":
            _require("mode", self.mode, self.mode == "paged", "paged with a prefix cache")
            _require("prefix_len", self.prefix_len, self.prefix_len == 0, "0 beside a prefix cache")
        divides = self.page_size >= 1 and self.block_size % self.page_size == 0
        _require("page_size", self.page_size, divides, f"a divisor of the block size, {self.block_size}")

    @property
    def pages_a_block(self) -> int:
        """Pieces that a block of the pool is cut into."""
        return self.block_size // self.page_size if self.prefix_cache == "radix" else 1


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """Who may run.

    Attributes:
        watermark: share of the pool's blocks that an admission leaves free while others run, 0 to 1. Paged
            only: a contiguous region never grows. None: what the rules say.
        max_num_seqs: most sequences that run at once.
        victim: one of VICTIM; None: what the rules say.
        recovery: one of RECOVERIES, where the rules leave the choice.
        rules: one of RULES: whose scheduler it is.
        queue: the order of those that wait, one of the rules' `queues`.
        order: the figures behind it; None: SGLang's under its rules, else PLAIN.
        token_budget: most tokens computed in a step, under sglang rules in a step of prompts; None: no limit.
        chunk_limit: most tokens of one prompt computed in a step while others run or wait, as vLLM V1's
            long_prefill_token_threshold; None: no limit.
        reserve_full_prompt: whether there must be room for all of a prompt that is computed in chunks.
        conservativeness: sglang: how much of the tokens to come an admission leaves free, see NewTokenRatio.

    Raises:
        ConfigError: a value out of range.
    """

    watermark: float | None = None
    max_num_seqs: int = 256
    victim: str | None = None
    recovery: str = "recompute"
    rules: str = "classic"
    queue: str = "fcfs"
    order: OrderRules | None = None
    token_budget: int | None = None
    chunk_limit: int | None = None
    reserve_full_prompt: bool = True
    conservativeness: float = 1.0

    def __post_init__(self) -> None:
        limits = [each for each in ("token_budget", "chunk_limit") if getattr(self, each) is not None]
        _require_whole(self, "max_num_seqs", *limits)
        if self.watermark is not None:
            _require("watermark", self.watermark, 0 <= self.watermark <= 1, "a share from 0 to 1")
        _require("max_num_seqs", self.max_num_seqs, self.max_num_seqs >= 1, "at least 1 sequence")
        if self.victim is not None:
            _require("victim", self.victim, self.victim in VICTIM, "one of " + ", ".join(VICTIM))
        for setting, choices in (("recovery", RECOVERIES), ("rules", RULES)):
            value = getattr(self, setting)
            _require(setting, value, value in choices, "one of " + ", ".join(choices))
        queues = RULES[self.rules].queues
        _require("queue", self.queue, self.queue in queues, f"{' or '.join(queues)} under {self.rules} rules")
        steady = self.conservativeness >= 0
        _require("conservativeness", self.conservativeness, steady, "0 or more")
        if self.token_budget is not None:
            _require("token_budget", self.token_budget, self.token_budget >= 1, "at least 1 token")
            chunked = RULES[self.rules].chunked
            _require("token_budget", self.token_budget, chunked, f"none under {self.rules} rules")
        if self.chunk_limit is not None:
            _require("chunk_limit", self.chunk_limit, self.chunk_limit >= 1, "at least 1 token")
            beside = RULES[self.rules].chunked and not RULES[self.rules].prompts_first
            _require("chunk_limit", self.chunk_limit, beside, f"none under {self.rules} rules")

    @property
    def chosen_victim(self) -> str:
        """One of VICTIM: as configured, or as the rules say."""
        if self.victim is None and self.queue == "priority" and self.rules != "sglang":
            return "least_important"
        return self.victim or RULES[self.rules].victim

    @property
    def chosen_order(self) -> OrderRules:
        """The figures behind the order of the queue: as configured, or as the rules say."""
        return self.order or (SGLANG_ORDER if self.rules == "sglang" else PLAIN)

    @property
    def chosen_watermark(self) -> float:
        """Share of the blocks: as configured, or as the rules say."""
        return RULES[self.rules].watermark if self.watermark is None else self.watermark


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """All that an engine is built from, but for its requests.

    Attributes:
        memory, scheduler: see there.
        max_len: longest prompt plus output in tokens; longer requests are rejected.
        step_ns: time of a step in ns, where no deployment says what runs on what.
        deployment: the model, the GPUs and the precision; a step then takes as long as its batch needs.
        efficiency: how much of the GPU's peaks is reached.
        seed: for the shuffled free order.

    Raises:
        ConfigError: a value out of range.
    """

    memory: MemoryConfig = field(default_factory=MemoryConfig)
    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    max_len: int = 2048
    step_ns: int = 50_000_000
    deployment: Deployment | None = None
    efficiency: Efficiency = DEFAULT_EFFICIENCY
    seed: int = 0

    def __post_init__(self) -> None:
        _require_whole(self, "max_len", "step_ns", "seed")
        _require("max_len", self.max_len, self.max_len >= 2, "at least 2 tokens")
        _require("step_ns", self.step_ns, self.step_ns >= 1, "at least 1 ns")
        rules, mode = self.scheduler.rules, self.memory.mode
        contiguous = [name for name, each in RULES.items() if each.contiguous]
        _require(
            "rules",
            rules,
            rules in contiguous or mode == "paged",
            f"one of {', '.join(contiguous)} in {mode} memory",
        )
        cache, caches = self.memory.prefix_cache, RULES[rules].caches
        _require("prefix_cache", cache, cache in caches, f"{' or '.join(caches)} under {rules} rules")
        queue = self.scheduler.queue
        blind = cache == "none" and queue in CACHE_AWARE
        others = [each for each in RULES[rules].queues if each not in CACHE_AWARE]
        _require("queue", queue, not blind, f"{' or '.join(others)} without a prefix cache")
        _require(
            "queue", queue, queue != "dfs_weight" or cache == "radix", "another one without a radix tree"
        )
        fewest = 1 + RULES[rules].null_block
        _require("num_blocks", self.memory.num_blocks, self.memory.num_blocks >= fewest, f"at least {fewest}")
