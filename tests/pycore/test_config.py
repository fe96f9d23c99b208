import dataclasses
import math
from itertools import product

import pytest

from pycore.assembly import build_allocator, build_engine
from pycore.config import ConfigError, EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import Admitted, EventLog, NullLog
from pycore.memory.contiguous import RESERVATIONS, ContiguousAllocator
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.paged import PagedAllocator
from pycore.memory.placement import PLACEMENTS
from pycore.request import Request
from tests.pycore.build import prefill, sequence


@pytest.mark.parametrize(
    ("config", "setting", "value"),
    [
        (MemoryConfig, "mode", "segmented"),
        (MemoryConfig, "num_blocks", 0),
        (MemoryConfig, "num_blocks", -5),
        (MemoryConfig, "num_blocks", 8.0),
        (MemoryConfig, "num_blocks", True),
        (MemoryConfig, "page_size", "4"),
        (SchedulerConfig, "token_budget", 2.0),
        (SchedulerConfig, "chunk_limit", 4),
        (EngineConfig, "step_ns", 1.5),
        (MemoryConfig, "block_size", 0),
        (MemoryConfig, "free_order", "random"),
        (MemoryConfig, "reservation", "min"),
        (MemoryConfig, "placement", "best_fit"),
        (SchedulerConfig, "watermark", -0.01),
        (SchedulerConfig, "watermark", 1.01),
        (SchedulerConfig, "watermark", math.nan),
        (SchedulerConfig, "max_num_seqs", 0),
        (SchedulerConfig, "victim", "nobody"),
        (EngineConfig, "max_len", 1),
        (EngineConfig, "step_ns", 0),
    ],
)
def test_a_setting_that_cannot_be_built_is_refused_with_its_name_and_what_would_do(config, setting, value):
    with pytest.raises(ConfigError) as refused:
        config(**{setting: value})
    error = refused.value
    assert error.setting == setting
    assert error.value is value
    assert str(error) == f"{setting} is {value!r}, expected {error.expected}"


@pytest.mark.parametrize(
    ("config", "setting", "value"),
    [
        (MemoryConfig, "num_blocks", 1),
        (MemoryConfig, "block_size", 1),
        (SchedulerConfig, "watermark", 0),
        (SchedulerConfig, "watermark", 1),
        (SchedulerConfig, "max_num_seqs", 1),
        (EngineConfig, "max_len", 2),
        (EngineConfig, "step_ns", 1),
    ],
)
def test_the_smallest_and_largest_values_are_fine(config, setting, value):
    assert getattr(config(**{setting: value}), setting) == value


def test_a_config_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        MemoryConfig().num_blocks = 1


@pytest.mark.parametrize("order", FREE_ORDERS)
def test_paged_memory_hands_out_blocks_in_the_order_asked_for(order):
    memory = build_allocator(EngineConfig(memory=MemoryConfig(num_blocks=6, free_order=order)), NullLog())
    assert isinstance(memory, PagedAllocator)
    seq = sequence(0, prompt=24)
    assert prefill(memory, seq)
    in_order = memory.block_table(seq) == tuple(range(6))
    assert in_order == (order != "shuffled")


def test_the_seed_decides_the_shuffled_order_alone():
    def table(seed: int) -> tuple[int, ...]:
        config = EngineConfig(memory=MemoryConfig(free_order="shuffled"), seed=seed)
        memory = build_allocator(config, NullLog())
        seq = sequence(0, prompt=64)
        prefill(memory, seq)
        return memory.block_table(seq)

    assert table(1) == table(1)
    assert table(1) != table(2)


@pytest.mark.parametrize(("reservation", "placement"), list(product(RESERVATIONS, PLACEMENTS)))
def test_contiguous_memory_has_as_many_slots_as_the_paged_pool(reservation, placement):
    memory_config = MemoryConfig("contiguous", 10, 4, reservation=reservation, placement=placement)
    memory = build_allocator(EngineConfig(memory=memory_config, max_len=32), NullLog())
    assert isinstance(memory, ContiguousAllocator)
    assert memory.capacity == 40
    request = Request(0, 0, prompt_len=5, output_len=5)
    assert (
        memory.slots_needed(request)
        == {
            ("max", "first_fit"): 32,
            ("max", "buddy"): 32,
            ("pow2", "first_fit"): 16,
            ("pow2", "buddy"): 16,
            ("oracle", "first_fit"): 10,
            ("oracle", "buddy"): 16,
        }[reservation, placement]
    )


def test_an_engine_is_wired_with_all_settings():
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=10, block_size=2),
        scheduler=SchedulerConfig(watermark=0.5, max_num_seqs=2),
        max_len=12,
        step_ns=7,
    )
    # r0 is too long for the context; r1 runs; r2 would leave 4 of 10 blocks free, not 5.
    lengths = [(10, 3), (4, 5), (7, 5)]
    engine = build_engine(config, [Request(i, 0, *length) for i, length in enumerate(lengths)], EventLog())
    engine.step()
    assert engine.now_ns == 7
    assert engine.scheduler.num_rejected == 1
    assert [event for event in engine.log.drain() if isinstance(event, Admitted)] == [Admitted(1, 4)]
