"""The loads whose prompts say what they share: what each is there to show, it shows on the page's pool."""

import pytest

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import BlocksEvicted, DuplicatesFreed, EventLog, NodeSplit, PrefixHit
from pycore.recorder import record
from pycore.workload.synthetic import LOADS

SEEDS = (0, 1, 5)
NAMES = ("shared_prompts", "chats")


def recorded(name, seed, cache):
    load = LOADS[name](seed, 1)
    page = 4 if cache == "radix" else 1
    memory = MemoryConfig(prefix_cache=cache, page_size=page)
    config = EngineConfig(memory, max_len=load.max_len, step_ns=1)
    return record(build_engine(config, load.requests, EventLog()), 90)


def count(recording, kind):
    return sum(isinstance(event, kind) for frame in recording.frames for event in frame.events)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cache", ["hash_chain", "radix"])
@pytest.mark.parametrize("name", NAMES)
def test_a_cache_has_something_to_find_to_keep_and_to_give_up(name, cache, seed):
    recording = recorded(name, seed, cache)
    assert count(recording, PrefixHit) > 20
    assert count(recording, BlocksEvicted) > 5
    assert max(frame.num_cached for frame in recording.frames) > 64


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cache_serves_the_same_questions_in_fewer_steps(seed):
    with_cache, without = (recorded("shared_prompts", seed, cache) for cache in ("radix", "none"))
    assert with_cache[60].num_finished > without[60].num_finished
    assert with_cache[-1].num_preemptions <= without[-1].num_preemptions


@pytest.mark.parametrize("seed", SEEDS)
def test_tasks_part_in_the_tree_and_are_computed_twice_where_they_come_together(seed):
    recording = recorded("shared_prompts", seed, "radix")
    assert count(recording, NodeSplit) > 0
    assert count(recording, DuplicatesFreed) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_turn_repeats_the_prompt_and_the_answer_of_the_one_before(seed):
    requests = LOADS["chats"](seed, 1).requests
    whole = [(*request.prompt.tokens, *request.answer) for request in requests]
    assert len({said[:8] for said in whole}) == 1
    repeated = 0
    for at, request in enumerate(requests):
        prompt = tuple(request.prompt.tokens)
        before = [said for said in whole[:at] if prompt[: len(said)] == said]
        repeated += bool(before)
        assert all(len(said) + 4 <= request.prompt_len for said in before)
    assert repeated == len(requests) - 16


@pytest.mark.parametrize("seed", SEEDS)
def test_an_answer_is_what_the_engine_generates(seed):
    load = LOADS["chats"](seed, 1)
    engine = build_engine(EngineConfig(max_len=load.max_len, step_ns=1), load.requests, EventLog())
    seen = {}
    for _ in range(60):
        engine.step()
        seen.update({seq.id: seq for seq in engine.scheduler.running})
    assert len(seen) > 10
    for seq in seen.values():
        prompt = seq.request.prompt_len
        assert tuple(seq.tokens[prompt:]) == seq.request.answer[: len(seq.tokens) - prompt]
