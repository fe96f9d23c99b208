"""The columns say exactly what the snapshots say."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backend.columns import recording_columns
from app.backend.settings import STEP_NS, engine_config, normalise
from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import Arrived, EventLog, Forked, PrefixHit
from pycore.prompt import Prompt
from pycore.recorder import Recording, record
from pycore.request import PREFIX_ID, Request
from pycore.workload.synthetic import LOADS

SETTINGS = st.fixed_dictionaries(
    {
        "sc": st.sampled_from(sorted(LOADS)),
        "mode": st.sampled_from(["paged", "contiguous"]),
        "res": st.sampled_from(["max", "pow2", "oracle"]),
        "place": st.sampled_from(["first_fit", "buddy"]),
        "order": st.sampled_from(["ascending", "shuffled", "lifo"]),
        "bs": st.integers(1, 16),
        "blocks": st.integers(4, 80),
        "seed": st.integers(0, 9999),
        "steps": st.integers(1, 60),
    }
)


def run(settings: dict) -> tuple[Recording, dict]:
    values, notices = normalise("simulate", settings)
    assert not notices
    load = LOADS[values["sc"]](values["seed"], STEP_NS)
    engine = build_engine(
        engine_config(values, load.max_len, STEP_NS, load.prefix_len), load.requests, EventLog()
    )
    recording = record(engine, values["steps"])
    return recording, recording_columns(recording, load.requests, values["mode"], load.max_len)


def numbers(recording: Recording) -> dict[int, int]:
    """Requests are numbered in order of arrival, then forks in order of creation, then the prefix."""
    events = [event for frame in recording.frames for event in frame.events]
    born = {event.seq for event in events if isinstance(event, (Arrived, Forked))}
    if PREFIX_ID in recording[0].memory.seqs:
        born.add(PREFIX_ID)
    return {seq: number for number, seq in enumerate(sorted(born, key=lambda seq: (seq == PREFIX_ID, seq)))}


@given(SETTINGS)
def test_each_frame_can_be_read_back_from_the_columns(settings):
    recording, columns = run(settings)
    frames, rows, size = columns["frames"], columns["rows"], columns["block_size"]
    number = numbers(recording)
    for t, snapshot in enumerate(recording.frames):
        begin, end = frames["row_start"][t : t + 2]
        assert rows["seq"][begin:end] == [number[seq] for seq in snapshot.memory.seqs]
        assert tuple(rows["tokens"][begin:end]) == snapshot.memory.tokens
        assert tuple(rows["final"][begin:end]) == snapshot.memory.final
        assert tuple(rows["held"][begin:end]) == snapshot.memory.held
        for row, place in zip(range(begin, end), snapshot.memory.places, strict=True):
            if settings["mode"] == "paged":
                table = columns["tables"][rows["table"][row]]
                assert tuple(table[: rows["held"][row] // size]) == place
            else:
                assert (rows["table"][row],) == place
        begin, end = frames["wait_start"][t : t + 2]
        assert columns["waits"]["seq"][begin:end] == [number[seq] for seq in snapshot.waiting]


@given(SETTINGS)
def test_counters_of_each_frame_are_those_of_the_snapshot(settings):
    recording, columns = run(settings)
    frames = columns["frames"]
    for t, snapshot in enumerate(recording.frames):
        waste = snapshot.waste
        assert [frames[name][t] for name in ("real", "reserved", "internal", "external", "usable")] == [
            waste.real,
            waste.reserved,
            waste.internal,
            waste.external,
            waste.usable,
        ]
        assert (
            frames["real"][t] + frames["reserved"][t] + frames["internal"][t] + frames["free"][t]
            == (columns["capacity"])
        )
        assert frames["finished"][t] == snapshot.num_finished
        assert frames["preemptions"][t] == snapshot.num_preemptions
        assert frames["head"][t] == (snapshot.waiting[0] if snapshot.waiting else -1)


@given(SETTINGS)
def test_columns_are_plain_json_and_every_list_has_its_length(settings):
    recording, columns = run(settings)
    assert json.loads(json.dumps(columns)) == columns
    num_frames = len(recording)
    for name, column in columns["frames"].items():
        assert len(column) == num_frames + name.endswith("_start"), name
    for part, start in (("rows", "row_start"), ("waits", "wait_start"), ("events", "event_start")):
        for name, column in columns[part].items():
            assert len(column) == columns["frames"][start][-1], (part, name)


def test_a_sample_arrives_when_it_is_forked_and_not_again_when_it_is_recomputed():
    recording, columns = run({"sc": "parallel_chat"})
    forked = {}
    for frame in recording.frames:
        for event in frame.events:
            if isinstance(event, Forked):
                forked.setdefault(event.seq, []).append(frame.step)
    assert any(len(steps) > 1 for steps in forked.values()), "no sample was recomputed, so nothing was shown"
    number = numbers(recording)
    assert all(columns["seqs"]["arrival"][number[seq]] == steps[0] for seq, steps in forked.items())


def test_a_request_that_ended_has_its_last_frame():
    recording, columns = run({"sc": "three_requests", "steps": 20})
    assert columns["seqs"]["arrival"] == [1, 1, 1, 2]
    assert columns["seqs"]["finish"] == [7, 6, 5, 5]
    assert recording[20].num_finished == 4


def cached_run(prompts: list[tuple[int, ...]], num_blocks: int) -> tuple[Recording, dict]:
    """Requests one after the other in memory under vllm-v1 rules, with a prefix cache."""
    requests = tuple(
        Request(id, 4 * id, len(tokens), 2, prompt=Prompt(tokens)) for id, tokens in enumerate(prompts)
    )
    memory = MemoryConfig(num_blocks=num_blocks, prefix_cache="hash_chain")
    config = EngineConfig(memory, SchedulerConfig(rules="vllm-v1"), step_ns=1)
    recording = record(build_engine(config, requests, EventLog()), 4 * len(prompts))
    return recording, recording_columns(recording, requests, "paged", 64)


def test_cached_blocks_are_read_back_from_the_columns_and_make_up_the_pool_with_the_others():
    recording, columns = cached_run([tuple(range(9)), (*range(8), 70), tuple(range(20, 40))], 8)
    frames = columns["frames"]
    for t, snapshot in enumerate(recording.frames):
        begin, end = frames["cached_start"][t : t + 2]
        assert tuple(columns["cached"]["block"][begin:end]) == snapshot.memory.cached
        assert frames["cached"][t] == 4 * (end - begin)
        parts = ("real", "reserved", "internal", "external", "usable", "cached")
        assert sum(frames[part][t] for part in parts) == columns["capacity"]
        assert frames["free"][t] == frames["usable"][t]
    assert {"PrefixHit", "BlocksEvicted"} <= set(columns["events"]["kind"])
    json.dumps(columns)


@pytest.mark.parametrize("cache", ["hash_chain", "radix"])
@pytest.mark.parametrize("sc", ["shared_prompts", "chats"])
def test_the_tree_of_each_frame_is_read_back_from_the_columns(sc, cache):
    recording, columns = run({"sc": sc, "cache": cache, "blocks": 40})
    nodes, trees, versions = columns["nodes"], columns["trees"], columns["frames"]["tree"]
    used_before, before = {}, None
    for t, snapshot in enumerate(recording.frames):
        tree = snapshot.prefixes
        begin, end = trees["start"][versions[t]], trees["start"][versions[t] + 1]
        places = trees["node"][begin:end]
        for name in ("id", "parent", "start", "length"):
            assert tuple(nodes[name][place] for place in places) == getattr(tree, name)
        assert tuple(tuple(nodes["blocks"][place]) for place in places) == tree.values
        assert tuple(trees["users"][begin:end]) == tree.users
        used = dict(zip(tree.id, trees["used"][begin:end], strict=True))
        ticks = dict(zip(tree.id, zip(tree.users, tree.last_used, strict=True), strict=True))
        for id, step in used.items():
            assert step == (used_before[id] if before and before.get(id) == ticks[id] else t)
        used_before, before = used, ticks
    assert len(trees["start"]) - 2 == versions[-1] == len(set(versions)) - 1
    json.dumps(columns)


def test_tokens_found_add_up_and_lines_name_the_nodes_they_are_about():
    recording, columns = run({"sc": "shared_prompts", "cache": "radix"})
    hits = [event for frame in recording.frames for event in frame.events if isinstance(event, PrefixHit)]
    assert columns["frames"]["found"][-1] == sum(event.num_tokens for event in hits) > 500
    events = columns["events"]
    for kind, nodes, sentence in zip(events["kind"], events["nodes"], events["en"], strict=True):
        if kind in ("PrefixCached", "NodeSplit"):
            assert f"node {nodes[0]}" in sentence
        assert (len(nodes) > 0) == (kind in ("PrefixCached", "NodeSplit", "BlocksEvicted"))


def test_the_null_block_is_a_holder_of_its_own():
    _, columns = cached_run([tuple(range(9))], 8)
    assert columns["seqs"]["name"] == ["r0", "null"]
    assert columns["rows"]["seq"][0] == 1
    assert set(columns["frames"]["running"]) == {0, 1}


def test_a_run_without_a_cache_has_no_columns_for_one():
    _, columns = run({"steps": 20})
    assert "cached" not in columns
    assert not {"cached", "tree", "found"} & columns["frames"].keys()
    assert not {"nodes", "trees"} & columns.keys()
