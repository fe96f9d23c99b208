"""Reservation baselines, the three wastes and the simulator's read-outs (facts E7, W1, W3–W5, section 2)."""

import pytest

from pycore.assembly import build_allocator, build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.engine import Engine
from pycore.events import EventLog, NullLog, Waiting
from pycore.experiments.external_fragmentation import EXTERNAL_FRAGMENTATION, MEANS
from pycore.memory.contiguous import RESERVATIONS
from pycore.memory.memory_map import MemoryMap
from pycore.memory.placement import PLACEMENTS, Buddy
from pycore.memory.waste import account
from pycore.recorder import record
from pycore.request import Request
from pycore.snapshot import take_snapshot
from pycore.workload.synthetic import chat_burst, three_requests

STEP_NS = 1


def _engine(memory: MemoryConfig, requests, max_len: int) -> Engine:
    return build_engine(EngineConfig(memory, max_len=max_len, step_ns=STEP_NS), requests, EventLog())


class TestAfter150TokensOf300:
    """Facts E7: prompt 100, final output 300, maximum 2,048, 150 tokens generated."""

    @pytest.mark.parametrize(
        ("memory", "held"),
        [
            (MemoryConfig("contiguous", 128, 16, reservation="max"), 2048),
            (MemoryConfig("contiguous", 128, 16, reservation="pow2"), 512),
            (MemoryConfig("contiguous", 128, 16, reservation="oracle"), 400),
            (MemoryConfig("paged", 128, 16), 256),
        ],
        ids=["max", "pow2", "oracle", "paged"],
    )
    def test_250_tokens_are_real_and_so_many_slots_are_held(self, memory, held):
        engine = _engine(memory, [Request(0, 0, prompt_len=100, output_len=300)], 2048)
        for _ in range(1 + 150):  # the prefill, then 150 generated tokens are fed back
            engine.step()
        holdings = engine.allocator.memory_map()
        assert holdings.tokens == (250,)
        assert holdings.held == (held,)


class TestThreeWastes:
    """Facts W1."""

    def test_each_waste_is_told_apart(self):
        # Two regions of 16 slots (5 of 12 tokens, 9 of 9), holes of 6 and 10; the next request wants 8.
        memory = MemoryMap(48, 4, (0, 1), (5, 9), (12, 9), (16, 16), ((0,), (22,)), 32, (6, 10))
        waste = account(memory, demand=8)
        assert (waste.real, waste.reserved, waste.internal) == (14, 7, 11)
        assert (waste.external, waste.usable) == (6, 10)

    @pytest.mark.parametrize("placement", PLACEMENTS)
    @pytest.mark.parametrize("mode", ["paged", *RESERVATIONS])
    def test_wastes_real_and_usable_slots_add_up_to_the_pool_at_every_step(self, mode, placement):
        if mode == "paged":
            memory = MemoryConfig("paged", 64, 4)
        else:
            memory = MemoryConfig("contiguous", 64, 4, reservation=mode, placement=placement)
        load = chat_burst(5, STEP_NS)
        for frame in record(_engine(memory, load.requests, load.max_len), 90).frames:
            waste = frame.waste
            parts = (waste.real, waste.reserved, waste.internal, waste.external, waste.usable)
            assert sum(parts) == 256
            assert min(parts) >= 0
            assert waste.real == sum(frame.memory.tokens)
            assert waste.used == sum(frame.memory.held) == 256 - sum(frame.memory.holes)


class TestReservations:
    """Facts W5."""

    @pytest.mark.parametrize(
        ("total", "pow2"), [(2, 2), (3, 4), (400, 512), (512, 512), (513, 1024), (2000, 2048)]
    )
    def test_max_pow2_and_oracle(self, total, pow2):
        request = Request(0, 0, 1, total - 1)
        assert RESERVATIONS["max"](request, 2048) == 2048
        assert RESERVATIONS["pow2"](request, 2048) == pow2
        assert RESERVATIONS["oracle"](request, 2048) == total

    def test_first_fit_and_buddy_are_both_there_and_buddy_rounds_to_powers_of_two(self):
        requested = Request(0, 0, 100, 300)
        held = {}
        for name in PLACEMENTS:
            memory = MemoryConfig("contiguous", 128, 16, reservation="oracle", placement=name)
            held[name] = build_allocator(EngineConfig(memory), NullLog()).slots_needed(requested)
        assert held == {"first_fit": 400, "buddy": 512}
        assert isinstance(PLACEMENTS["buddy"](64), Buddy)


def test_max_leaves_only_holes_that_fit_the_next_request():
    """Facts W3: exactly 0 requests blocked; the same load blocks some when the regions differ."""
    blocked = {}
    for reservation in RESERVATIONS:
        load = chat_burst(5, STEP_NS)
        memory = MemoryConfig("contiguous", 64, 4, reservation=reservation)
        frames = record(_engine(memory, load.requests, load.max_len), 90).frames
        waits = [event for frame in frames for event in frame.events if isinstance(event, Waiting)]
        blocked[reservation] = len({event.seq for event in waits if event.reason == "fragmented"})
    assert blocked["max"] == 0
    assert blocked["pow2"] > 0
    assert blocked["oracle"] > 0


@pytest.mark.parametrize("seed", range(3))
def test_larger_requests_fail_more_often_and_holes_are_less_to_blame(seed):
    """Facts W4."""
    figures = EXTERNAL_FRAGMENTATION.run({"seed": seed}).figures
    small, middle, large = MEANS
    assert figures[f"failed_{small}"] < figures[f"failed_{middle}"] < figures[f"failed_{large}"]
    assert figures[f"share_{small}"] > figures[f"share_{middle}"] > figures[f"share_{large}"]


class TestReadOuts:
    """Facts, section 2."""

    def test_the_two_wastes_of_the_pool_are_8_and_17_percent(self):
        prompts = (17, 16, 18, 8, 17, 10, 17, 17, 17, 16, 16, 16, 16, 12)
        requests = [Request(i, 0, prompt, output_len=20) for i, prompt in enumerate(prompts)]
        engine = _engine(MemoryConfig("paged", 64, 4), requests, 64)
        engine.step()
        frame = take_snapshot(engine)
        assert (frame.num_running, frame.memory.used // 4, frame.waste.real) == (14, 58, 213)
        assert round(100 * frame.waste.share_of_used) == 8
        assert round(100 * frame.waste.share_of_pool) == 17

    def test_ten_tokens_reserve_36_slots_and_block_a_fourth_request(self):
        load = three_requests(0, STEP_NS)
        # 47 slots: three regions of 12 leave 11, one too few.
        engine = _engine(MemoryConfig("contiguous", 47, 1, reservation="max"), load.requests, load.max_len)
        engine.step()
        frame = take_snapshot(engine)
        assert (frame.waste.real, frame.waste.used, frame.num_running) == (10, 36, 3)
        engine.step()
        frame = take_snapshot(engine)
        assert (frame.num_running, frame.waiting) == (3, (3,))
        assert Waiting(3, 12, 11, 11, "memory") in frame.events

    def test_paged_the_same_tokens_take_10_of_24_blocks(self):
        load = three_requests(0, STEP_NS)
        engine = _engine(MemoryConfig("paged", 24, 1), load.requests, load.max_len)
        engine.step()
        frame = take_snapshot(engine)
        assert (frame.waste.real, frame.waste.used, frame.num_free) == (10, 10, 14)
        engine.step()
        assert take_snapshot(engine).num_running == 4

    @pytest.mark.parametrize("seed", [5, 1, 2, 3])
    def test_paged_keeps_at_least_1_6_times_as_many_tokens_resident(self, seed):
        real = {}
        for mode in ("paged", "contiguous"):
            load = chat_burst(seed, STEP_NS)
            frames = record(_engine(MemoryConfig(mode, 64, 4), load.requests, load.max_len), 90).frames
            real[mode] = sum(frame.waste.real for frame in frames)
        assert real["paged"] >= 1.6 * real["contiguous"]
