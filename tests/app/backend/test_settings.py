"""Settings from outside are clamped and told, never trusted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.backend.handle import Handler
from app.backend.settings import SETTINGS, Setting, engine_config, normalise, num_blocks, shorten


def test_defaults_are_the_pool_of_the_source():
    values, notices = normalise("simulate", {})
    assert not notices
    assert (values["blocks"], values["bs"], values["steps"], values["seed"]) == (64, 4, 90, 5)


@pytest.mark.parametrize(
    ("key", "given_value", "used"),
    [
        ("bs", 0, 1),
        ("bs", "33", 32),
        ("bs", -5, 1),
        ("bs", "four", 4),
        ("bs", "4.5", 4),
        ("bs", True, 4),
        ("bs", [], 4),
        ("blocks", 0, 1),
        ("blocks", 10**400, 4096),
        ("seed", "9" * 5000, 5),
        ("wm", "nan", 1.0),
        ("wm", float("inf"), 1.0),
        ("mode", "<script>alert(1)</script>", "paged"),
        ("mode", 3, "paged"),
    ],
)
def test_a_value_out_of_range_is_clamped_and_told(key, given_value, used):
    values, notices = normalise("simulate", {key: given_value})
    assert values[key] == used
    (told,) = notices
    assert told.key == "notice.corrected"
    assert key in told.sentences["en"]
    assert key in told.sentences["zh"]


@pytest.mark.parametrize(
    ("given_values", "steps"),
    [
        ({"blocks": 4096, "steps": 2000}, 500),
        ({"blocks": 1024, "steps": 2000}, 2000),
        ({"blocks": 4096, "steps": 2000, "hold": 1}, 2000),  # the pool is 64 blocks then
    ],
)
def test_a_recording_too_large_for_a_page_has_fewer_steps_and_says_so(given_values, steps):
    values, notices = normalise("simulate", given_values)
    assert values["steps"] == steps
    assert [told.key for told in notices] == ["notice.steps"] * (steps < 2000)
    for told in notices:
        assert "4,096" in told.sentences["en"]
        assert "500" in told.sentences["zh"]


def test_an_unknown_setting_is_ignored_and_told():
    values, notices = normalise("simulate", {"<b>": 1})
    assert "<b>" not in values
    assert [told.key for told in notices] == ["notice.unknown"]


def test_numbers_may_come_as_words():
    values, notices = normalise("simulate", {"bs": "16", "wm": "2.5", "seed": 7.0})
    assert not notices
    assert (values["bs"], values["wm"], values["seed"]) == (16, 2.5, 7)
    assert isinstance(values["seed"], int)


def test_held_memory_keeps_the_tokens_and_changes_the_blocks():
    for block_size in (1, 4, 16):
        values, _ = normalise("simulate", {"bs": block_size, "hold": 1})
        assert num_blocks(values) * block_size == 256


@given(
    st.dictionaries(
        st.text(max_size=5) | st.sampled_from(sorted(SETTINGS["simulate"])),
        st.none() | st.text() | st.integers() | st.floats() | st.booleans() | st.lists(st.integers()),
    )
)
def test_whatever_comes_in_an_engine_can_be_built(given_settings):
    for kind in SETTINGS:
        values, _ = normalise(kind, given_settings)
        assert values.keys() == SETTINGS[kind].keys()
        if "mode" in values:
            engine_config({**values, "blocks": values["blocks"] or 1}, 64, 1)  # 0: as many as fit


POLICIES = st.fixed_dictionaries(
    {
        key: st.sampled_from(SETTINGS["simulate"][key].choices)
        for key in ("sc", "mode", "rules", "queue", "victim", "cache", "evict", "uncached", "rec")
    }
    | {
        "bs": st.integers(1, 8),
        "blocks": st.integers(1, 70),
        "budget": st.integers(0, 40),
        "cpu": st.integers(0, 40),
        "hold": st.integers(0, 1),
        "steps": st.just(12),
    }
)


@settings(max_examples=150)
@given(POLICIES)
def test_whatever_is_combined_a_run_comes_of_it_and_asking_for_what_was_used_corrects_nothing(combined):
    answer = Handler().handle({"kind": "simulate", "settings": combined})
    assert answer["error"] is None
    used = answer["settings"]
    again, notices = normalise("simulate", used)
    assert again == used
    assert {told.key for told in notices} <= {"notice.contiguous"}
    if used["mode"] == "contiguous":
        assert {key: used[key] for key in combined} == combined
    elif used != {**used, **combined}:
        assert any(told["key"] == "notice.agree" for told in answer["notices"])


@pytest.mark.parametrize(
    ("given_values", "key", "used"),
    [
        ({"cache": "radix", "rules": "vllm-v1"}, "cache", "hash_chain"),
        ({"cache": "hash_chain", "rules": "sglang"}, "cache", "radix"),
        ({"queue": "lpm"}, "queue", "fcfs"),
        ({"queue": "dfs_weight", "cache": "hash_chain"}, "queue", "fcfs"),
        ({"queue": "lpm", "cache": "hash_chain", "rules": "vllm-v1"}, "queue", "fcfs"),
        ({"budget": 8}, "budget", 0),
        ({"blocks": 1, "rules": "vllm-v1"}, "blocks", 2),
    ],
)
def test_what_does_not_go_with_the_others_is_replaced_and_told(given_values, key, used):
    values, (told,) = normalise("simulate", given_values)
    assert values == {**normalise("simulate", {})[0], **given_values, key: used}
    assert told.key == "notice.agree"
    for sentence in told.sentences.values():
        assert f"“{key}”" in sentence
        assert str(used) in sentence


def test_contiguous_memory_lets_a_cache_rest_and_says_so():
    values, (told,) = normalise("simulate", {"mode": "contiguous", "cache": "radix", "rules": "sglang"})
    assert (values["cache"], values["rules"]) == ("radix", "sglang")
    assert "cache=radix" in told.sentences["en"]
    config = engine_config(values, 64, 1)
    assert (config.memory.prefix_cache, config.scheduler.rules) == ("none", "classic")


def test_the_operators_prefix_gives_way_to_a_cache_and_that_is_told():
    asked = {"sc": "system_prompt", "cache": "radix", "steps": 5}
    answer = Handler().handle({"kind": "simulate", "settings": asked})
    assert [told["key"] for told in answer["notices"]] == ["notice.prefix.cache"]
    assert "prefix" not in answer["sources"]["recording"]["seqs"]["name"]


def test_what_a_user_gave_is_repeated_short_and_printable():
    assert shorten("x" * 100) == "x" * 40 + "…"
    assert shorten("a\x00\nb") == "a��b"


def test_a_setting_tells_what_it_expected():
    assert Setting(4, 1, 32).read(99) == (32, "1 … 32")
    assert Setting("a", choices=("a", "b")).read("c") == ("a", "a, b")
