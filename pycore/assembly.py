"""The one place where the parts of an engine are wired, as its settings say."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from pycore.config import EngineConfig
from pycore.cost_model import CostModel, FixedStep, Roofline
from pycore.engine import Engine
from pycore.events import EventLog, NullLog
from pycore.memory.allocator import KVAllocator
from pycore.memory.block_pool import BlockPool
from pycore.memory.caching_pool import CachingBlockPool
from pycore.memory.contiguous import RESERVATIONS, ContiguousAllocator
from pycore.memory.counted import CountedAllocator
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.paged import PagedAllocator
from pycore.memory.placement import PLACEMENTS
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.memory.radix_caching import RadixCachingAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.memory.tree_pool import TreePool
from pycore.model_runner import CountingRunner, ModelRunner
from pycore.prefix_cache.block_hash import BLOCK_HASHES
from pycore.prefix_cache.eviction import EVICTION
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prefix_cache.radix import RadixCache
from pycore.request import Request
from pycore.rng import Rng
from pycore.scheduling.batch import NO_LIMIT
from pycore.scheduling.policies import VICTIM
from pycore.scheduling.rules import RULES
from pycore.scheduling.scheduler import Scheduler


def build_cost_model(config: EngineConfig) -> CostModel:
    """The clock that `config` asks for."""
    if config.deployment is None:
        return FixedStep(config.step_ns)
    memory, efficiency = config.memory, config.efficiency
    if memory.mode == "contiguous":
        efficiency = replace(efficiency, kernel=None)  # nothing is looked up
    return Roofline(config.deployment, efficiency, memory.block_size // memory.pages_a_block)


def build_allocator(config: EngineConfig, log: EventLog | NullLog, *, counts: bool = False) -> KVAllocator:
    """The memory that `config` asks for, empty; with `counts` blocks are only counted, where that will do."""
    memory = config.memory
    if memory.mode == "contiguous":
        placement = PLACEMENTS[memory.placement](memory.num_blocks * memory.block_size)
        return ContiguousAllocator(
            placement, RESERVATIONS[memory.reservation], config.max_len, memory.block_size, log
        )
    rng = Rng(config.seed).fork("free_order")
    swap_space = None
    if memory.cpu_blocks:
        cpu_blocks = memory.cpu_blocks * memory.pages_a_block
        swap_space = SwapSpace(BlockPool(cpu_blocks, FREE_ORDERS["ascending"](range(cpu_blocks), rng)))
    null_block = RULES[config.scheduler.rules].null_block
    if memory.prefix_cache == "hash_chain":
        chain = HashChain(memory.block_size, BLOCK_HASHES[memory.block_hash])
        pool = CachingBlockPool(memory.num_blocks, chain, uncached_first=memory.uncached_first)
        return PrefixCachingAllocator(pool, log, null_block=null_block, swap_space=swap_space)
    num_blocks = memory.num_blocks * memory.pages_a_block
    free_list = FREE_ORDERS[memory.free_order](range(num_blocks), rng)
    if memory.prefix_cache == "radix":
        tree = RadixCache(memory.page_size, EVICTION[memory.eviction])
        pool = TreePool(num_blocks, tree, free_list)
        return RadixCachingAllocator(pool, log, null_block=null_block, swap_space=swap_space)
    pool = BlockPool(num_blocks, free_list)
    if counts and not memory.prefix_len:
        return CountedAllocator(pool, memory.block_size, log, null_block=null_block, swap_space=swap_space)
    return PagedAllocator(
        pool,
        memory.block_size,
        log,
        prefix_len=memory.prefix_len,
        null_block=null_block,
        swap_space=swap_space,
    )


def build_engine(
    config: EngineConfig,
    requests: Iterable[Request],
    log: EventLog | NullLog,
    make_runner: Callable[[KVAllocator], ModelRunner] | None = None,
    *,
    counts: bool = False,
) -> Engine:
    """An engine before its first step.

    Args:
        config: the settings.
        requests: in order of arrival.
        log: an EventLog to record from, or a NullLog for speed.
        make_runner: given the memory, makes what chooses the tokens; None: they are only counted.
        counts: with a NullLog: whether blocks and decoding sequences are only counted, where that will do.
    """
    cost_model = build_cost_model(config)
    allocator = build_allocator(config, log, counts=counts and not cost_model.needs_lengths)
    runner = make_runner(allocator) if make_runner else CountingRunner(Rng(config.seed).fork("beams"))
    choices = config.scheduler
    scheduler = Scheduler(
        allocator,
        VICTIM[choices.chosen_victim],
        max_len=config.max_len,
        max_num_seqs=choices.max_num_seqs,
        watermark_slots=int(choices.chosen_watermark * config.memory.num_blocks) * config.memory.block_size,
        recovery=choices.recovery,
        rules=RULES[choices.rules],
        queue=choices.queue,
        token_budget=NO_LIMIT if choices.token_budget is None else choices.token_budget,
        chunk_limit=NO_LIMIT if choices.chunk_limit is None else choices.chunk_limit,
        reserve_full_prompt=choices.reserve_full_prompt,
        order_rules=choices.chosen_order,
        conservativeness=choices.conservativeness,
        log=log,
    )
    return Engine(requests, scheduler, allocator, runner, cost_model, log)
