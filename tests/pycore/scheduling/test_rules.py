"""Other engines' rules over our parts: what must hold under each, and what tells them apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.assembly import build_engine
from pycore.config import ConfigError, EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import EventLog, Outgrown, Preempted, Rejected
from pycore.prefix_cache.eviction import EVICTION
from pycore.prompt import Prompt
from pycore.request import Request
from pycore.scheduling.queue_order import CACHE_AWARE
from pycore.scheduling.rules import REJECTIONS, RULES


def engine_of(rules: str, requests: list[Request], memory: MemoryConfig, **scheduler):
    config = EngineConfig(memory, SchedulerConfig(rules=rules, **scheduler), max_len=400, step_ns=1)
    return build_engine(config, requests, EventLog())


@st.composite
def loads(draw) -> list[Request]:
    requests, arrival = [], 0
    for id in range(draw(st.integers(1, 8))):
        decoding = draw(st.sampled_from(["plain", "plain", "parallel", "beam"]))
        tokens = tuple(draw(st.lists(st.integers(0, 1), min_size=1, max_size=18)))
        num_seqs = 1 if decoding == "plain" else draw(st.integers(1, 4))
        prompt = draw(st.sampled_from([None, Prompt(tokens)]))
        output, priority = draw(st.integers(1, 16)), draw(st.integers(0, 2))
        requests.append(
            Request(id, arrival, len(tokens), output, num_seqs, decoding, prompt=prompt, priority=priority)
        )
        arrival += draw(st.integers(0, 3))
    return requests


@st.composite
def choices(draw) -> tuple[MemoryConfig, dict]:
    """Memory and scheduler of any rules, with what goes with them."""
    name = draw(st.sampled_from(sorted(RULES)))
    rules = RULES[name]
    cache = draw(st.sampled_from(rules.caches))
    blind = [queue for queue in rules.queues if queue not in CACHE_AWARE]
    queues = {"none": blind, "hash_chain": [queue for queue in rules.queues if queue != "dfs_weight"]}
    memory = MemoryConfig(
        num_blocks=90,
        block_size=2,
        prefix_cache=cache,
        page_size=draw(st.sampled_from([1, 2])),
        eviction=draw(st.sampled_from(sorted(EVICTION))),
        cpu_blocks=draw(st.sampled_from([0, 60])),
    )
    return memory, {
        "rules": name,
        "queue": draw(st.sampled_from(queues.get(cache, rules.queues))),
        "watermark": draw(st.sampled_from([None, 0.1])),
        "token_budget": draw(st.sampled_from([None, 3, 16])) if rules.chunked else None,
        "reserve_full_prompt": draw(st.booleans()),
        "max_num_seqs": draw(st.sampled_from([4, 256])),
    }


@given(requests=loads(), chosen=choices())
def test_every_request_ends_once_and_every_invariant_holds_after_every_step(requests, chosen):
    memory, scheduler = chosen
    engine = engine_of(requests=requests, memory=memory, **scheduler)
    ended = []
    for _ in range(5_000):
        if engine.done:
            break
        ended += sorted({seq.request.id for seq in engine.step() if not seq.group})
        engine.check()
        ended += [event.seq for event in engine.log.drain() if isinstance(event, Rejected)]
        assert not engine.scheduler.stuck
    assert engine.done, f"waiting: {engine.scheduler.waiting}, running: {engine.scheduler.running}"
    assert sorted(ended) == [request.id for request in requests]
    pool = engine.allocator.pool
    assert pool.num_free == pool.num_blocks - RULES[scheduler["rules"]].null_block


def test_a_step_of_v1_never_computes_more_than_its_budget():
    requests = [Request(id, 0, 20, 5) for id in range(4)]
    engine = engine_of("vllm-v1", requests, MemoryConfig(num_blocks=100), token_budget=7)
    while not engine.done:
        before = {seq.id: seq.num_computed for seq in engine.scheduler.running}
        finished = engine.step()
        here = [*engine.scheduler.running, *finished]
        assert sum(seq.num_computed - before.get(seq.id, 0) for seq in here) <= 7


def test_a_prompt_in_pieces_gets_its_first_token_with_the_last_piece():
    engine = engine_of("vllm-v1", [Request(0, 0, 10, 3)], MemoryConfig(), token_budget=4)
    generated = []
    while not engine.done:
        finished = engine.step()
        generated += [seq.num_generated for seq in engine.scheduler.running or finished]
    assert generated == [0, 0, 1, 2, 3]


def test_prompts_and_decodes_never_meet_in_a_step_of_v0():
    requests = [Request(id, id, 6, 8) for id in range(5)]
    engine = engine_of("vllm-v0", requests, MemoryConfig(num_blocks=40))
    while not engine.done:
        before = {seq.id for seq in engine.scheduler.running}
        engine.step()
        new = [seq for seq in engine.scheduler.running if seq.id not in before]
        old = [seq for seq in engine.scheduler.running if seq.id in before]
        assert not new or all(seq.num_tokens - seq.num_computed == 1 for seq in old)
        if new:
            assert {seq.num_generated for seq in new} == {1}


def test_v0_swaps_a_group_and_computes_a_single_sequence_again():
    requests = [Request(0, 0, 8, 20), Request(1, 1, 8, 20, 2, "parallel"), Request(2, 2, 8, 20)]
    engine = engine_of("vllm-v0", requests, MemoryConfig(num_blocks=14, cpu_blocks=20))
    swapped, again = set(), set()
    while not engine.done:
        engine.step()
        for event in engine.log.drain():
            if type(event).__name__ == "SwappedOut":
                swapped.add(event.seq)
            elif isinstance(event, Preempted):
                again.add(event.seq)
    assert swapped == {1}
    assert again == {2}


def test_a_prompt_larger_than_the_pool_is_told_of_on_arrival_where_it_would_hang():
    engine = engine_of("vllm-v1", [Request(0, 0, 30, 2)], MemoryConfig(num_blocks=6))
    engine.step()
    assert Outgrown(0, 32, 20) in engine.log.drain()
    assert engine.scheduler.stuck
    assert not engine.done


def test_a_request_behind_a_hopeless_one_is_why_the_run_is_stuck_too():
    requests = [Request(0, 0, 30, 2), Request(1, 0, 4, 2)]
    engine = engine_of("vllm-v1", requests, MemoryConfig(num_blocks=6))
    for _ in range(3):
        engine.step()
    assert engine.scheduler.stuck
    assert [seq.id for seq in engine.scheduler.waiting] == [0, 1]


def test_a_prompt_larger_than_the_pool_is_told_of_though_some_of_it_is_in_use_when_it_comes():
    said = tuple(range(32))
    requests = [Request(0, 0, 9, 4, prompt=Prompt(said[:9])), Request(1, 1, 26, 2, prompt=Prompt(said[:26]))]
    engine = engine_of("vllm-v1", requests, MemoryConfig(num_blocks=7, prefix_cache="hash_chain"))
    told = []
    for _ in range(8):
        engine.step()
        told += [(engine.num_steps, event) for event in engine.log.drain() if isinstance(event, Outgrown)]
    assert told == [(5, Outgrown(1, 28, 24))]
    assert engine.scheduler.stuck


def test_with_prompts_first_a_swapped_group_comes_back_to_an_empty_pool_whatever_the_watermark():
    requests = [Request(id, 0, 1, 3, 2, "parallel") for id in range(2)]
    memory = MemoryConfig(num_blocks=6, block_size=2, cpu_blocks=20)
    engine = engine_of("prefill-first", requests, memory, recovery="swap", watermark=0.5)
    while not engine.done:
        assert engine.num_steps < 50, "nobody is let back in"
        engine.step()
    assert engine.scheduler.num_preemptions > 0
    assert engine.scheduler.num_finished == 2
    assert not engine.scheduler.stuck


def test_who_was_swapped_out_in_the_middle_of_his_prompt_waits_for_room_to_go_on_with_it():
    requests = [Request(0, 0, 5, 7), Request(1, 0, 11, 2)]
    memory = MemoryConfig(num_blocks=4, block_size=4, cpu_blocks=20)
    choices = {
        "recovery": "swap",
        "victim": "fewest_outputs",
        "token_budget": 8,
        "reserve_full_prompt": False,
    }
    engine = engine_of("chunked", requests, memory, watermark=0, **choices)
    while not engine.done:
        engine.step()
        engine.check()
    assert engine.scheduler.num_tokens_swapped == 3, "of the 11 of r1's prompt"
    assert engine.scheduler.num_finished == 2


def test_what_a_preempted_request_finds_again_is_not_computed_again():
    lost = {}
    for cache in ("none", "hash_chain"):
        requests = [
            Request(id, 0, 8, 20, prompt=Prompt(tuple(range(id * 100, id * 100 + 8)))) for id in range(3)
        ]
        engine = engine_of("vllm-v1", requests, MemoryConfig(num_blocks=11, prefix_cache=cache))
        while not engine.done:
            engine.step()
        lost[cache] = engine.scheduler.num_recomputed
    assert lost["hash_chain"] == lost["none"] - 24  # the hits of case S01, which is this load


def test_priority_decides_who_is_preempted():
    requests = [Request(0, 0, 8, 20, priority=5), Request(1, 0, 8, 20, priority=0)]
    engine = engine_of("vllm-v1", requests, MemoryConfig(num_blocks=8), queue="priority")
    preempted = []
    while not engine.done:
        engine.step()
        preempted += [event.seq for event in engine.log.drain() if isinstance(event, Preempted)]
    assert preempted == [0]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"rules": "vllm"},
            "rules is 'vllm', expected one of classic, prefill-first, chunked, vllm-v1, vllm-v0",
        ),
        ({"queue": "lottery"}, "queue is 'lottery', expected fcfs or priority"),
        ({"rules": "vllm-v0", "queue": "priority"}, "queue is 'priority', expected fcfs under vllm-v0 rules"),
        ({"token_budget": 8}, "token_budget is 8, expected none under classic rules"),
        ({"rules": "vllm-v1", "token_budget": 0}, "token_budget is 0, expected at least 1 token"),
    ],
)
def test_a_setting_that_does_not_go_with_the_rules_is_named(settings, told):
    with pytest.raises(ConfigError, match=told):
        SchedulerConfig(**settings)


@pytest.mark.parametrize(
    ("memory", "rules", "told"),
    [
        ({"prefix_cache": "tree"}, "classic", "prefix_cache is 'tree', expected one of none, hash_chain"),
        ({"block_hash": "md5"}, "classic", "block_hash is 'md5', expected one of blake2b, sha256_cbor"),
        ({"prefix_cache": "hash_chain", "mode": "contiguous"}, "classic", "paged with a prefix cache"),
        ({"prefix_cache": "hash_chain", "prefix_len": 4}, "classic", "prefix_len is 4, expected 0"),
        (
            {"mode": "contiguous"},
            "vllm-v0",
            "rules is 'vllm-v0', expected one of classic, prefill-first, chunked in contiguous memory",
        ),
        ({"num_blocks": 1}, "vllm-v1", "num_blocks is 1, expected at least 2"),
        ({"num_blocks": 0}, "vllm-v1", "num_blocks is 0, expected at least 1"),
    ],
)
def test_memory_that_does_not_go_with_the_rules_is_named(memory, rules, told):
    with pytest.raises(ConfigError, match=told):
        EngineConfig(MemoryConfig(**memory), SchedulerConfig(rules=rules))


def test_all_rules_say_when_they_reject():
    assert {rules.reject for rules in RULES.values()} == set(REJECTIONS)
