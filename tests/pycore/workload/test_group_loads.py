"""The loads that share: what each is there to show, it shows on the page's pool."""

import pytest

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import BlockCopied, Dropped, EventLog, Forked, PrefixShared
from pycore.workload.synthetic import LOADS

SEEDS = (0, 1, 5)


def events_of(name: str, seed: int, steps: int = 90) -> list:
    load = LOADS[name](seed, 1)
    memory = MemoryConfig(prefix_len=load.prefix_len)
    engine = build_engine(EngineConfig(memory, max_len=load.max_len, step_ns=1), load.requests, EventLog())
    events = []
    for _ in range(steps):
        engine.step()
        engine.check()
        events += engine.log.drain()
    assert engine.scheduler.num_rejected == 0
    return events


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", LOADS)
def test_no_request_is_longer_than_its_load_says_and_all_come_in_order(name, seed):
    load = LOADS[name](seed, 7)
    assert max(request.total_len for request in load.requests) <= load.max_len
    arrivals = [request.arrival_ns for request in load.requests]
    assert arrivals == sorted(arrivals)
    assert all(arrival % 7 == 0 for arrival in arrivals)
    assert [request.id for request in load.requests] == list(range(len(load.requests)))
    assert all(request.shared_prefix in (0, load.prefix_len) for request in load.requests)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("parallel_chat", {Forked, BlockCopied}),
        ("beam", {Forked, BlockCopied, Dropped}),
        ("system_prompt", {PrefixShared, BlockCopied}),
        ("mixed_decoding", {Forked, BlockCopied, Dropped}),
    ],
)
def test_each_shares_in_its_way(name, kinds, seed):
    sharing = {Forked, BlockCopied, Dropped, PrefixShared}
    assert {type(event) for event in events_of(name, seed)} & sharing == kinds


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mixed_load_has_all_three_decodings(seed):
    decodings = {request.decoding for request in LOADS["mixed_decoding"](seed, 1).requests}
    assert decodings == {"plain", "parallel", "beam"}
