import pytest

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import EventLog, Waiting
from pycore.memory.waste import account
from pycore.prompt import Prompt
from pycore.request import Request
from pycore.snapshot import take_snapshot
from tests.pycore.build import MEMORY_CHOICES, engine


def test_a_snapshot_tells_the_step_the_queue_and_the_counts():
    started = engine([(5, 1), (5, 9), (30, 2), (30, 2), (63, 2)], max_len=64)
    started.step()
    found = take_snapshot(started)
    assert (found.step, found.now_ns) == (1, 1)
    assert (found.num_running, found.waiting) == (2, (3,))
    assert (found.num_finished, found.num_rejected, found.num_preemptions) == (1, 1, 0)
    assert (found.head_needed, found.num_free, found.largest_free) == (32, 24, 24)
    assert Waiting(3, 32, 16, 16, "memory") in found.events


def test_the_largest_free_piece_is_told_apart_from_all_that_is_free():
    lengths = [(4, 4), (4, 20), (4, 4)]
    started = engine(lengths, choice="contiguous-oracle-first_fit", num_blocks=12)
    for _ in range(5):
        started.step()
    found = take_snapshot(started)
    assert found.memory.holes == (8, 16)
    assert (found.num_free, found.largest_free) == (24, 16)


def test_events_belong_to_one_snapshot_only():
    started = engine([(5, 2)])
    started.step()
    assert len(take_snapshot(started).events) == 3
    assert take_snapshot(started).events == ()


def test_nobody_waits_for_nothing():
    found = take_snapshot(engine([]))
    assert (found.step, found.waiting, found.head_needed) == (0, (), 0)
    assert found.num_free == found.memory.capacity


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
def test_later_steps_leave_a_snapshot_as_it_was(choice):
    started = engine([(5, 9), (9, 9), (2, 4), (20, 8), (7, 7)], choice=choice, max_len=32)
    started.step()
    before = take_snapshot(started)
    copy = repr(before)
    for _ in range(12):
        started.step()
    assert repr(before) == copy
    assert take_snapshot(started) != before


@pytest.mark.parametrize("cache", ["hash_chain", "radix"])
def test_the_blocks_that_a_cache_knows_are_those_that_are_cached_or_held(cache):
    prompts = [tuple(range(9)), (*range(8), 70, 71, 72, 73), tuple(range(20, 45))]
    requests = [Request(id, 3 * id, len(each), 3, prompt=Prompt(each)) for id, each in enumerate(prompts)]
    memory = MemoryConfig(num_blocks=8, block_size=4, prefix_cache=cache, page_size=4)
    started = build_engine(EngineConfig(memory, step_ns=1), requests, EventLog())
    seen = []
    for _ in range(12):
        started.step()
        found = take_snapshot(started)
        nodes = found.prefixes
        known = [block for values in nodes.values for block in values]
        held = {block for blocks in found.memory.places for block in blocks}
        assert set(found.memory.cached) == set(known) - held
        users = [sum(values[0] in blocks for blocks in found.memory.places) for values in nodes.values]
        assert list(nodes.users) == users
        seen.append(nodes)
    assert max(len(nodes.id) for nodes in seen) > 1
    assert max(max(nodes.users, default=0) for nodes in seen) > 0


def test_without_a_cache_there_are_no_prefixes():
    assert take_snapshot(engine([(5, 2)])).prefixes is None


def test_snapshots_and_what_they_hold_are_immutable():
    started = engine([(5, 9), (60, 2)])
    started.step()
    found = take_snapshot(started)
    with pytest.raises(AttributeError):
        found.step = 2
    hash(found)  # tuples and frozen dataclasses all the way down
    columns = list(found.memory)
    assert all(isinstance(column, tuple | int) for column in columns)


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
def test_its_waste_is_accounted_against_what_the_head_of_the_queue_wants(choice):
    started = engine([(9, 9), (9, 3), (9, 9), (9, 3), (30, 2)], choice=choice, max_len=32)
    for _ in range(5):
        started.step()
        found = take_snapshot(started)
        assert found.waste == account(found.memory, found.head_needed)
        assert found.waste.capacity == found.memory.capacity == 64
