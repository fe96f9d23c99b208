"""Facts T3–T5, T7 and T8 on sharing and copy-on-write, with the values of the sources."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.engine import Engine
from pycore.events import BlockCopied, Dropped, Event, EventLog, Finished, Forked
from pycore.request import Request


def engine_for(*requests: Request, num_blocks: int = 512, block_size: int = 8, **memory) -> Engine:
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=num_blocks, block_size=block_size, **memory),
        scheduler=SchedulerConfig(watermark=0),
        max_len=8192,
        step_ns=1,
    )
    return build_engine(config, requests, EventLog())


def run_to_end(engine: Engine) -> tuple[int, list[Event]]:
    """The most slots in use after a step, and all events; every invariant is checked after each step."""
    peak, events = 0, []
    while not engine.done:
        engine.step()
        engine.check()
        events += engine.log.drain()
        peak = max(peak, engine.allocator.memory_map().used)
    return peak, events


def peak_blocks(n: int, prompt: int, output: int, block_size: int) -> int:
    """The most blocks that n parallel samples of one prompt hold after a step."""
    engine = engine_for(Request(0, 0, prompt, output, n, "parallel"), block_size=block_size)
    return run_to_end(engine)[0] // block_size


def test_t3_four_samples_of_forty_tokens_hold_31_blocks_instead_of_52():
    # 41 tokens each: the last one is never written, so that 40 tokens of each sample lie in memory
    shared = peak_blocks(4, 62, 41, 8)
    unshared = 4 * peak_blocks_of_one(62, 41, 8)
    assert (shared, unshared) == (31, 52)
    assert round(100 * (1 - shared / unshared), 1) == 40.4
    assert round(100 * 3 * 62 / (4 * (62 + 40)), 1) == 45.6  # the formula that knows no blocks


def peak_blocks_of_one(prompt: int, output: int, block_size: int) -> int:
    return -(-(prompt + output - 1) // block_size)


@given(
    n=st.integers(1, 6), prompt=st.integers(1, 40), output=st.integers(3, 30), block_size=st.integers(1, 9)
)
def test_t3_holds_for_any_prompt_number_and_block_size(n, prompt, output, block_size):
    # seen one step before the end, when all but the last written token of each sample lie in memory
    engine = engine_for(Request(0, 0, prompt, output, n, "parallel"), block_size=block_size)
    for _ in range(output - 1):
        engine.step()
        engine.check()
    whole = prompt // block_size
    own = peak_blocks_of_one(prompt, output - 1, block_size) - whole
    assert engine.allocator.memory_map().used == (whole + n * own) * block_size


@given(n=st.integers(2, 6), prompt=st.integers(1, 40), block_size=st.integers(1, 9))
def test_t4_the_last_block_of_the_prompt_is_copied_n_minus_1_times_and_no_other(n, prompt, block_size):
    engine = engine_for(Request(0, 0, prompt, 12, n, "parallel"), block_size=block_size)
    engine.step()
    last = engine.allocator.memory_map().places[0][-1]
    _, events = run_to_end(engine)
    copies = [event.source for event in events if isinstance(event, BlockCopied)]
    assert copies == ([] if prompt % block_size == 0 else [last] * (n - 1))


def test_t4_the_last_owner_writes_in_place():
    engine = engine_for(Request(0, 0, 6, 9, 3, "parallel"), block_size=4)
    engine.step()
    engine.log.drain()
    engine.step()
    copies = [event for event in engine.log.drain() if isinstance(event, BlockCopied)]
    assert [(event.source, event.holders) for event in copies] == [(1, 2), (1, 1)]
    assert engine.allocator.memory_map().places[2] == (0, 1)


def test_t5_a_thousand_token_prompt_is_held_once_by_four_samples():
    engine = engine_for(Request(0, 0, 1000, 20, 4, "parallel"), num_blocks=2000, block_size=1)
    engine.step()
    assert engine.allocator.memory_map().used == 1000
    peak, _ = run_to_end(engine)
    assert peak <= 1000 + 4 * 19


def test_contiguous_memory_holds_a_private_copy_for_each_sample():
    engine = engine_for(
        Request(0, 0, 62, 40, 4, "parallel"), mode="contiguous", reservation="oracle", num_blocks=64
    )
    peak, events = run_to_end(engine)
    assert peak == 4 * 102
    assert [event.shared for event in events if isinstance(event, Forked)] == [0, 0, 0]


@given(width=st.integers(2, 8), prompt=st.integers(1, 40), output=st.integers(2, 30), seed=st.integers(0, 99))
def test_t7_a_dropped_beam_frees_only_what_nobody_else_holds(width, prompt, output, seed):
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=512, block_size=4), max_len=512, step_ns=1, seed=seed
    )
    engine = build_engine(config, [Request(0, 0, prompt, output, width, "beam")], EventLog())
    while not engine.done:
        before = _holders(engine)
        engine.step()
        engine.check()
        after = _holders(engine)
        events = engine.log.drain()
        num_dropped = sum(isinstance(event, Dropped) for event in events)
        num_born = sum(isinstance(event, Forked) for event in events)
        if not engine.done and before:
            assert num_dropped == num_born  # the width stays
            assert set(after) <= set(range(512))
    assert sum(isinstance(event, Finished) for event in events) == width
    assert engine.allocator.memory_map().used == 0


def _holders(engine: Engine) -> Counter:
    return Counter(block for table in engine.allocator.memory_map().places for block in table)


def test_t8_is_checked_by_the_audit_itself():
    engine = engine_for(Request(0, 0, 6, 9, 3, "parallel"), block_size=4)
    engine.step()
    pool = engine.allocator.pool
    pool.free([0])  # a table still holds it: this is the bug that corrupts other people's text
    with pytest.raises(AssertionError, match=r"block 0: 3 tables hold it, its reference count is 2"):
        engine.check()
