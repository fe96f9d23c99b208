"""Real tokens through the engine: batching, sharing and preemption change nothing that a user reads."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycore.attention.runner import TransformerRunner
from pycore.config import MemoryConfig, SchedulerConfig
from pycore.events import BlockCopied, Preempted, Recovered, SwappedIn, SwappedOut
from pycore.request import Request
from tests.pycore.attention.engine_runs import (
    MODEL,
    alone,
    beams_from_scratch,
    by_tokens,
    outputs,
    real_engine,
)

SIX = [
    Request(i, arrival, prompt, output)
    for i, (prompt, output, arrival) in enumerate(
        [(9, 20, 0), (17, 6, 0), (1, 30, 2), (33, 12, 5), (4, 1, 9), (22, 25, 14)]
    )
]


def assert_as_alone(engine, requests) -> list:
    """Runs to the end; returns the events."""
    found = by_tokens(outputs(engine), requests)
    assert found == {request.id: alone(request) for request in requests}
    return list(engine.log.drain())


@pytest.mark.parametrize("order", ["ascending", "shuffled"])
@pytest.mark.parametrize("block_size", [1, 4, 16])
def test_six_requests_through_the_engine_get_the_tokens_they_get_alone(block_size, order):
    engine, _ = real_engine(SIX, MemoryConfig("paged", 192 // block_size, block_size, order))
    assert_as_alone(engine, SIX)


@pytest.mark.parametrize(("prompt", "block_size"), [(13, 4), (16, 4), (13, 16), (7, 1)])
def test_parallel_samples_are_those_drawn_independently(prompt, block_size):
    requests = [Request(0, 0, prompt, 15, 4, "parallel"), Request(1, 3, prompt + 2, 9, 3, "parallel")]
    engine, _ = real_engine(requests, MemoryConfig("paged", 512 // block_size, block_size))
    events = assert_as_alone(engine, requests)
    copies = sum(isinstance(event, BlockCopied) for event in events)
    assert copies == (3 if prompt % block_size else 0) + (2 if (prompt + 2) % block_size else 0)
    assert len({tuple(tokens) for tokens in alone(requests[0])}) == 4


@pytest.mark.parametrize("block_size", [1, 4, 16])
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_beams_are_those_of_a_search_that_recomputes_every_step(width, block_size):
    request = Request(0, 0, 11, 12, width, "beam")
    engine, runner = real_engine([request], MemoryConfig("paged", 512 // block_size, block_size))
    seqs = []
    while not engine.done:
        seqs += engine.step()
        engine.check()
    best_first = sorted(((runner.score(seq), seq.tokens[11:]) for seq in seqs), key=lambda b: (-b[0], b[1]))
    assert best_first == beams_from_scratch(request)


def test_plain_parallel_and_beam_requests_share_a_batch():
    requests = [
        Request(0, 0, 9, 12),
        Request(1, 0, 10, 14, 3, "parallel"),
        Request(2, 2, 11, 10, 4, "beam"),
        Request(3, 5, 5, 16),
        Request(4, 6, 6, 8, 2, "beam"),
    ]
    engine, _ = real_engine(requests, MemoryConfig("paged", 64, 4, "shuffled"))
    assert_as_alone(engine, requests)


@pytest.mark.parametrize("prefix_len", [5, 8, 14])
def test_requests_that_map_the_operators_prefix_answer_as_if_they_had_computed_it(prefix_len):
    requests = [
        Request(0, 0, 20, 8, shared_prefix=prefix_len),
        Request(1, 1, prefix_len, 8, shared_prefix=prefix_len),
        Request(2, 1, 18, 6, 3, "parallel", shared_prefix=prefix_len),
        Request(3, 2, 17, 6, 3, "beam", shared_prefix=min(3, prefix_len)),
        Request(4, 3, 9, 7),
    ]
    engine, _ = real_engine(requests, MemoryConfig("paged", 64, 4, prefix_len=prefix_len))
    assert_as_alone(engine, requests)


# 12 requests that hold 105 blocks of 4 together at their longest, as in the lecture on vLLM, section 5.1,
# which does not publish their lengths.
TWELVE_LENGTHS = [(14, 22), (9, 17), (20, 15), (12, 25), (17, 20), (8, 24)] * 2
TWELVE_LENGTHS[-1] = (8, 36)
TWELVE = [Request(i, 2 * i, *lengths) for i, lengths in enumerate(TWELVE_LENGTHS)]


@pytest.mark.parametrize("recovery", ["recompute", "swap"])
def test_twelve_requests_in_a_third_of_the_blocks_they_need_answer_as_alone(recovery):
    assert sum(-(-request.kv_len // 4) for request in TWELVE) == 105
    memory = MemoryConfig("paged", 35, 4, cpu_blocks=35 if recovery == "swap" else 0)
    engine, _ = real_engine(TWELVE, memory, SchedulerConfig(watermark=0.05, recovery=recovery))
    events = assert_as_alone(engine, TWELVE)
    assert 2 <= engine.scheduler.num_preemptions <= 6
    if recovery == "recompute":
        lost = sum(event.num_lost for event in events if isinstance(event, Preempted))
        assert lost == engine.scheduler.num_recomputed > 0
        assert sum(isinstance(event, Recovered) for event in events) == engine.scheduler.num_preemptions
    else:
        out, back = (
            [event.num_blocks for event in events if isinstance(event, kind)]
            for kind in (SwappedOut, SwappedIn)
        )
        assert sorted(out) == sorted(back)
        assert len(out) == engine.scheduler.num_preemptions
        assert engine.scheduler.num_recomputed == 0


@pytest.mark.parametrize(("recovery", "cpu_blocks"), [("recompute", 0), ("swap", 64), ("swap", 9)])
def test_groups_that_are_preempted_together_answer_as_alone(recovery, cpu_blocks):
    requests = [
        Request(0, 0, 10, 20),
        Request(1, 1, 11, 18, 3, "parallel"),
        Request(2, 2, 9, 18, 3, "beam"),
        Request(3, 3, 6, 20, 2, "parallel"),
        Request(4, 3, 7, 16),
    ]
    memory = MemoryConfig("paged", 30, 4, cpu_blocks=cpu_blocks)
    engine, _ = real_engine(requests, memory, SchedulerConfig(watermark=0, recovery=recovery))
    events = assert_as_alone(engine, requests)
    preempted = {event.seq for event in events if isinstance(event, (Preempted, SwappedOut))}
    assert preempted & {1, 2, 3}, "no group was preempted, so nothing was shown"


@st.composite
def loads(draw) -> list[Request]:
    requests, arrival = [], 0
    for id in range(draw(st.integers(2, 7))):
        decoding = draw(st.sampled_from(["plain", "parallel", "beam"]))
        prompt = draw(st.integers(1, 14))
        width = 1 if decoding == "plain" else draw(st.integers(1, 4))
        shared = min(prompt, draw(st.sampled_from([0, 6])))
        requests.append(Request(id, arrival, prompt, draw(st.integers(1, 12)), width, decoding, shared))
        arrival += draw(st.integers(0, 3))
    return requests


@settings(max_examples=25)
@given(
    requests=loads(),
    memory=st.builds(
        MemoryConfig,
        num_blocks=st.integers(16, 40),
        block_size=st.sampled_from([1, 2, 3, 4]),
        prefix_len=st.sampled_from([0, 6]),
        cpu_blocks=st.sampled_from([0, 8, 40]),
    ),
    recovery=st.sampled_from(["recompute", "swap"]),
)
def test_whatever_is_shared_swapped_or_recomputed_the_answer_is_the_same(requests, memory, recovery):
    engine, _ = real_engine(requests, memory, SchedulerConfig(watermark=0, recovery=recovery))
    found = by_tokens(outputs(engine), requests)
    assert len(found) + engine.scheduler.num_rejected == len(requests)
    assert found == {request.id: alone(request) for request in requests if request.id in found}


def mean_saving(width: int) -> float:
    """Share of the blocks that private copies would hold, mean over the steps of a search."""
    engine, _ = real_engine([Request(0, 0, 40, 30, width, "beam")], MemoryConfig("paged", 512, 4))
    savings = []
    for _ in range(29):  # the 30th frees everything
        engine.step()
        memory = engine.allocator.memory_map()
        savings.append(1 - memory.used / sum(memory.held))
    return sum(savings) / len(savings)


def test_t6_a_beam_search_saves_over_a_third_of_the_blocks_and_more_the_wider_it_is():
    savings = [mean_saving(width) for width in (2, 4, 8)]
    assert 0.35 < savings[0] < savings[1] < savings[2] < 1


def test_a_prompt_of_another_length_is_refused():
    engine, runner = real_engine([Request(0, 0, 5, 2)], MemoryConfig())
    runner._prompts[0].pop()
    with pytest.raises(ValueError, match="r0: 4 prompt tokens, not 5"):
        engine.step()


def test_a_prefix_of_another_length_than_memory_keeps_is_refused():
    engine, _ = real_engine([], MemoryConfig(prefix_len=6))
    with pytest.raises(ValueError, match="the prefix has 5 tokens, memory keeps 6"):
        TransformerRunner(MODEL, engine.allocator, {}, prefix=[1] * 5)
