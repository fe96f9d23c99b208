"""`kvscope run` shows what the page shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backend.handle import Handler
from app.backend.settings import STEP_NS, engine_config
from app.cli.pool_picture import ASCII_GLYPHS, pool_picture, slots
from app.cli.run_summary import WASTE, run_summary
from pycore.assembly import build_engine
from pycore.events import EventLog
from pycore.metrics import recorded_use
from pycore.recorder import record
from pycore.workload.synthetic import LOADS

SETUPS = [
    ({}, ()),
    ({"bs": "1", "blocks": "200"}, ("--block-size", 1, "--blocks", 200)),
    ({"mode": "contiguous"}, ("--mode", "contiguous")),
    (
        {"mode": "contiguous", "res": "pow2", "place": "buddy", "sc": "long_tail"},
        ("--mode", "contiguous", "--reservation", "pow2", "--placement", "buddy", "--load", "long_tail"),
    ),
    ({"hold": 1, "bs": "16", "seed": "7"}, ("--hold", "--block-size", 16, "--seed", 7)),
    (
        {"order": "shuffled", "wm": "10", "seqs": "3", "steps": "40"},
        ("--order", "shuffled", "--watermark", 10, "--max-seqs", 3, "--steps", 40),
    ),
    (
        {
            "sc": "shared_prompts",
            "cache": "radix",
            "evict": "lfu",
            "rules": "sglang",
            "queue": "lpm",
            "budget": "40",
        },
        (
            *("--load", "shared_prompts", "--cache", "radix", "--evict", "lfu"),
            *("--rules", "sglang", "--policy", "lpm", "--token-budget", 40),
        ),
    ),
    (
        {
            "sc": "chats",
            "cache": "hash_chain",
            "uncached": "tail",
            "rules": "vllm-v1",
            "victim": "fewest_outputs",
        },
        (
            *("--load", "chats", "--cache", "hash_chain", "--uncached", "tail"),
            *("--rules", "vllm-v1", "--victim", "fewest_outputs"),
        ),
    ),
]
RUNS = st.fixed_dictionaries(
    {
        "sc": st.sampled_from(sorted(LOADS)),
        "mode": st.sampled_from(["paged", "contiguous"]),
        "res": st.sampled_from(["max", "pow2", "oracle"]),
        "place": st.sampled_from(["first_fit", "buddy"]),
        "cache": st.sampled_from(["none", "hash_chain", "radix"]),
        "bs": st.integers(1, 16),
        "blocks": st.integers(4, 80),
        "seed": st.integers(0, 9999),
        "steps": st.integers(1, 60),
    }
)


def answer(settings: dict) -> dict:
    response = Handler().handle({"kind": "simulate", "settings": settings})
    assert response["error"] is None
    return response


def test_what_the_page_would_be_told_is_told(kvscope, monkeypatch):
    monkeypatch.setattr("app.backend.settings.MOST_CELLS", 64 * 10)
    outcome = kvscope("run", "--json")
    assert outcome.document["recording"]["steps"] == 10
    assert outcome.err.startswith("90 steps of 64 blocks")


@pytest.mark.parametrize(("settings", "options"), SETUPS)
def test_the_document_holds_what_the_page_gets(kvscope, settings, options):
    outcome = kvscope("run", *options, "--json")
    expected = answer(settings)
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.document["version"] == 1
    assert outcome.document["command"] == "run"
    assert outcome.document["settings"] == expected["settings"]
    assert outcome.document["recording"] == expected["sources"]["recording"]
    assert outcome.document["summary"] == run_summary(expected["sources"]["recording"])


@given(RUNS)
def test_the_summary_agrees_with_the_core(settings):
    response = answer(settings)
    values = response["settings"]
    load = LOADS[values["sc"]](values["seed"], STEP_NS)
    engine = build_engine(
        engine_config(values, load.max_len, STEP_NS, load.prefix_len), load.requests, EventLog()
    )
    use = recorded_use(record(engine, values["steps"]))
    summary = run_summary(response["sources"]["recording"])
    assert summary["utilisation"] == pytest.approx(use.utilisation)
    assert summary["mean_running"] == pytest.approx(use.mean_residents)
    assert summary["max_running"] == use.peak_residents
    assert summary["waste_of_held"] == pytest.approx(1 - use.real_of_held if use.real or use.reserved else 0)


@given(RUNS, st.data())
def test_the_picture_has_as_many_slots_of_each_part_as_the_counters(settings, data):
    recording = answer(settings)["sources"]["recording"]
    step = data.draw(st.integers(0, recording["steps"]))
    parts = [part for _, part in slots(recording, step)]
    frames = recording["frames"]
    for part in (*WASTE[:3], *(["cached"] if "cached" in frames else [])):
        assert parts.count(part) == frames[part][step]
    assert parts.count("free") == frames["free"][step]


def test_every_block_is_drawn_once(kvscope):
    recording = answer({"bs": 4, "blocks": 64})["sources"]["recording"]
    drawn = pool_picture(recording, 20, width=80, blocks=False).plain
    glyphs = [sum(line.count(glyph) for glyph in ASCII_GLYPHS.values()) for line in drawn.splitlines()]
    assert glyphs == [8 * 4] * 8


@pytest.mark.parametrize("blocks", [4, 128, 129, 4096])
@pytest.mark.parametrize("width", [20, 80, 200])
def test_the_picture_fits_the_terminal(blocks, width):
    recording = answer({"blocks": blocks, "steps": 5})["sources"]["recording"]
    assert max(map(len, pool_picture(recording, 5, width).plain.splitlines())) <= width


def test_the_step_asked_for_is_drawn_and_told(kvscope):
    recording = answer({})["sources"]["recording"]
    outcome = kvscope("run", "--at", 20, "--every", 45)
    starts = recording["frames"]["event_start"]
    told = " ".join(outcome.out.split())
    assert "after step 20 of 90" in told
    for sentence in recording["events"]["en"][starts[20] : starts[21]]:
        assert sentence in told
    steps = [
        line.split()[0] for line in outcome.out.splitlines() if line[:4].strip().isdigit() and "r" not in line
    ]
    assert set(steps) >= {"0", "20", "45", "90"}


def test_the_counters_are_those_of_the_recording(kvscope):
    frames = answer({})["sources"]["recording"]["frames"]
    row = next(line for line in kvscope("run").out.splitlines() if line.split()[:1] == ["45"])
    names = ("running", "waiting", "finished", "rejected", "preemptions", *WASTE)
    assert row.split() == ["45", *(str(frames[name][45]) for name in names)]


def test_what_is_cached_is_drawn_counted_and_summed_up(kvscope):
    options = ("--load", "shared_prompts", "--cache", "radix")
    recording = answer({"sc": "shared_prompts", "cache": "radix"})["sources"]["recording"]
    frames = recording["frames"]
    outcome = kvscope("run", *options, "--at", 60)
    row = next(line for line in outcome.out.splitlines() if line.split()[:1] == ["60"])
    assert row.split()[-1] == str(frames["cached"][60])
    drawn = pool_picture(recording, 60, width=200, blocks=False).plain
    assert drawn.count("o") == frames["cached"][60] > 0
    assert f"{frames['found'][-1]:,} tokens were found in the prefix cache" in " ".join(outcome.out.split())


def test_what_does_not_go_together_is_replaced_and_remarked_upon_once(kvscope):
    outcome = kvscope("run", "--cache", "radix", "--rules", "vllm-v1", "--json")
    assert outcome.document["settings"]["cache"] == "hash_chain"
    assert outcome.err.count("\n") == 1
    assert "vllm" not in outcome.err
    assert "“radix”" in outcome.err
    outcome = kvscope("run", "--cache", "radix", "--mode", "contiguous", "--json")
    assert outcome.err.count("cache=radix") == outcome.err.count("\n") == 1


def test_the_state_before_the_first_step_can_be_drawn(kvscope):
    assert "before the first step" in kvscope("run", "--at", 0).out


def test_chinese_is_chinese_throughout(kvscope):
    outcome = kvscope("run", "--lang", "zh", "--at", 20)
    assert "第 20 步发生了什么" in outcome.out
    assert "blocks" not in outcome.out


@pytest.mark.parametrize(
    ("options", "remark"),
    [
        (("--reservation", "pow2"), "--reservation has no effect here; it belongs to contiguous memory."),
        (
            ("--mode", "contiguous", "--order", "lifo"),
            "--order has no effect here; it belongs to paged memory.",
        ),
        (
            ("--hold", "--blocks", 9),
            "--blocks has no effect beside --hold, which fixes the slots of the pool.",
        ),
    ],
)
def test_settings_without_effect_are_remarked_upon(kvscope, options, remark):
    outcome = kvscope("run", *options, "--json")
    assert outcome.err == remark + "\n"
    assert outcome.document["version"] == 1
