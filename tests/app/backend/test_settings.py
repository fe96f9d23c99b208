"""Settings from outside are clamped and told, never trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
            engine_config(values, 64, 1)


def test_what_a_user_gave_is_repeated_short_and_printable():
    assert shorten("x" * 100) == "x" * 40 + "…"
    assert shorten("a\x00\nb") == "a��b"


def test_a_setting_tells_what_it_expected():
    assert Setting(4, 1, 32).read(99) == (32, "1 … 32")
    assert Setting("a", choices=("a", "b")).read("c") == ("a", "a, b")
