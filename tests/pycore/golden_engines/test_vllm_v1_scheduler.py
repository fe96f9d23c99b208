"""Our scheduler under vllm-v1 rules decides what that of vLLM V1 decided, step for step (cases S)."""

import pytest

from pycore.config import MemoryConfig, SchedulerConfig
from pycore.events import Outgrown, Preempted
from tests.pycore.golden_engines.block_replay import PROMPT_KEYS
from tests.pycore.golden_engines.cases import case, cases
from tests.pycore.golden_engines.engine_replay import EngineReplay

KNOWN = {"block_size", "num_blocks_incl_null", "requests", "sampled_token", "caching", "max_batched"}
KNOWN |= {"reserve_full_isl", "policy", "watermark", "max_num_seqs", "long_prefill_token_threshold"}
REQUEST_KEYS = {"id", "tokens", "max_tokens", "order", "at", "priority"} | PROMPT_KEYS.keys()


def replay_of(given: dict) -> EngineReplay:
    """Our engine set up as the case says; a setting that we do not know is an error, never passed over."""
    assert given.keys() <= KNOWN, given.keys() - KNOWN
    assert all(REQUEST_KEYS.issuperset(request) for request in given["requests"])
    caching, requests = given.get("caching", True), given["requests"]
    if given.get("policy") == "priority":  # equals go by arrival, as we number them
        requests = sorted(requests, key=lambda request: request.get("order", request.get("at", 0)))
    memory = MemoryConfig(
        num_blocks=given["num_blocks_incl_null"],
        block_size=given["block_size"],
        prefix_cache="hash_chain" if caching else "none",
        free_order="lifo",
    )
    scheduler = SchedulerConfig(
        rules="vllm-v1",
        queue=given.get("policy", "fcfs"),
        token_budget=given.get("max_batched"),
        reserve_full_prompt=given.get("reserve_full_isl", True),
        watermark=given.get("watermark"),
        max_num_seqs=given.get("max_num_seqs", 256),
        chunk_limit=given.get("long_prefill_token_threshold") or None,
    )
    return EngineReplay(requests, memory, scheduler)


@pytest.mark.parametrize("golden", cases("S"))
def test_every_step_is_the_engine_s(golden):
    replay = replay_of(golden["input"])
    scheduler, allocator = replay.engine.scheduler, replay.engine.allocator
    for number, expected in enumerate(golden["result"]):
        events = replay.step()
        batch = replay.runner.batch
        scheduled = zip(batch.seqs, batch.num_new, strict=True)
        ours = {
            "step": number,
            "scheduled": {replay.name(seq.request.id): num_new for seq, num_new in scheduled},
            "preempted": [replay.name(event.seq) for event in events if isinstance(event, Preempted)],
            "running_after": [replay.name(seq.request.id) for seq in scheduler.running],
            "waiting_after": [replay.name(seq.request.id) for seq in scheduler.waiting],
            "free_blocks": allocator.pool.num_free,
        }
        assert ours == expected


@pytest.mark.parametrize("golden", cases("S"))
def test_hits_are_counted_as_the_engine_counted_them(golden):
    replay = replay_of(golden["input"])
    for _ in golden["result"]:
        replay.step()
    stats = getattr(replay.engine.allocator, "stats", None)
    assert {name: getattr(stats, name, 0) for name in golden["stats"]} == golden["stats"]


@pytest.mark.parametrize("id", ["S08", "S11"])
def test_ours_says_so_where_the_engine_hangs(id):
    golden = case(id)
    replay = replay_of(golden["input"])
    told = [event for _ in golden["result"] for event in replay.step() if isinstance(event, Outgrown)]
    assert told == [Outgrown(0, 24, 20)]
    assert replay.engine.scheduler.stuck
