"""Plain, parallel and beam requests, with and without a prefix, under every recovery: nothing breaks."""

from hypothesis import given
from hypothesis import strategies as st

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import EventLog, SwappedIn, SwappedOut
from pycore.request import Request, Status

PREFIX = 8


@st.composite
def loads(draw) -> list[Request]:
    requests, arrival = [], 0
    for id in range(draw(st.integers(1, 10))):
        decoding = draw(st.sampled_from(["plain", "plain", "parallel", "beam"]))
        prompt = draw(st.integers(1, 20))
        requests.append(
            Request(
                id,
                arrival,
                prompt,
                draw(st.integers(1, 20)),
                1 if decoding == "plain" else draw(st.integers(1, 4)),
                decoding,
                min(prompt, draw(st.sampled_from([0, 0, PREFIX - 1, PREFIX]))),
            )
        )
        arrival += draw(st.integers(0, 3))
    return requests


MEMORY = st.builds(
    MemoryConfig,
    mode=st.sampled_from(["paged", "paged", "contiguous"]),
    num_blocks=st.integers(12, 60),
    block_size=st.sampled_from([1, 2, 4, 5]),
    reservation=st.sampled_from(["max", "pow2", "oracle"]),
    placement=st.sampled_from(["first_fit", "buddy"]),
    prefix_len=st.sampled_from([0, PREFIX]),
    cpu_blocks=st.sampled_from([0, 10, 60]),
)
SCHEDULER = st.builds(
    SchedulerConfig,
    watermark=st.sampled_from([0.0, 0.01, 0.2]),
    max_num_seqs=st.sampled_from([4, 8, 100]),
    recovery=st.sampled_from(["recompute", "swap"]),
)


@given(requests=loads(), memory=MEMORY, scheduler=SCHEDULER)
def test_every_request_ends_once_and_every_invariant_holds_after_every_step(requests, memory, scheduler):
    config = EngineConfig(memory=memory, scheduler=scheduler, max_len=40, step_ns=1)
    engine = build_engine(config, requests, EventLog())
    ended: dict[int, int] = {}
    events = []
    for _ in range(5_000):
        if engine.done:
            break
        for seq in engine.step():
            assert seq.num_generated == seq.request.output_len
            ended[seq.request.id] = ended.get(seq.request.id, 0) + 1
        engine.check()
        events += engine.log.drain()
        snapshot = engine.allocator.memory_map()
        account = engine.allocator.waste(engine.scheduler.demand)
        assert account.capacity == snapshot.capacity
        assert min(account.real, account.reserved, account.internal, account.external, account.usable) >= 0
        for seq in engine.scheduler.running:
            together = {other.status for other in seq.group}
            assert together == {Status.RUNNING}, f"{seq.group} is not scheduled together"
    assert engine.done, f"waiting: {engine.scheduler.waiting}, running: {engine.scheduler.running}"
    finished = {request.id: request.num_seqs for request in requests if request.id in ended}
    assert ended == finished
    assert len(ended) + engine.scheduler.num_rejected == len(requests)
    out = [event.num_blocks for event in events if isinstance(event, SwappedOut)]
    back = [event.num_blocks for event in events if isinstance(event, SwappedIn)]
    assert sorted(out) == sorted(back)
    assert engine.allocator.num_free == engine.allocator.largest_holding or memory.mode == "contiguous"


def test_a_group_that_can_never_fit_is_rejected_with_its_size():
    config = EngineConfig(memory=MemoryConfig(num_blocks=8, block_size=4), max_len=64, step_ns=1)
    engine = build_engine(config, [Request(0, 0, 8, 12, 4, "parallel")], EventLog())
    engine.step()
    assert engine.done
    assert engine.scheduler.rejected == {"pool": 1}
    rejected = engine.log.drain()[1]
    assert (rejected.needed, rejected.limit) == ((2 + 4 * 3) * 4, 32)


def test_a_group_wider_than_the_batch_is_rejected():
    config = EngineConfig(scheduler=SchedulerConfig(max_num_seqs=3), max_len=64, step_ns=1)
    engine = build_engine(config, [Request(0, 0, 8, 12, 4, "beam")], EventLog())
    engine.step()
    assert engine.scheduler.rejected == {"sequences": 1}


def test_the_operators_prefix_is_computed_never_and_its_last_block_copied_on_write():
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=16, block_size=4, prefix_len=6), max_len=64, step_ns=1
    )
    engine = build_engine(config, [Request(0, 0, 10, 3, shared_prefix=6)], EventLog())
    batch = engine.scheduler
    engine.step()
    table = engine.allocator.memory_map().places[1]
    assert table[0] == 0  # the first block of the prefix itself
    assert table[1] not in (0, 1)  # its second, half empty, was copied before the prompt went on in it
    assert batch.running[0].num_computed == 10
    assert engine.allocator.pool.ref_count(0) == 2
