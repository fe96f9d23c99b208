"""Address = state: written as things change, read back exactly, corrected aloud, and never executed."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from app.backend.settings import SETTINGS
from tests.browser.simulator import Gate

PAGE_KEYS = {
    "v": "1",
    "tab": "simulate",
    "t": "77",
    "focus": "r3",
    "lang": "zh",
    "theme": "dark",
    "embed": "1",
    "hide": "waste,twin",
}
# No setting keeps its default, but for "hold", with which the number of blocks would not be the address's,
# and "mode", as contiguous memory would let the cache and the rules rest.
SET = {
    **{"sc": "long_tail", "wm": "2.5", "bs": "8", "blocks": "48", "seed": "321", "steps": "120", "hold": "0"},
    **{"mode": "paged"},
}


def every_key():
    """A value for each key of the address, as words."""
    others = {
        key: setting.choices[-1] if setting.choices else f"{setting.default + 1:g}"
        for key, setting in SETTINGS["simulate"].items()
    }
    return {**PAGE_KEYS, **others, **SET}


def test_every_key_comes_back_as_it_was_given(simulator):
    given = every_key()
    assert len(given) >= 20
    query = "&".join(f"{key}={quote(value)}" for key, value in given.items())
    page = simulator().open(f"?{query}")
    page.wait_for_steps(120)
    for step in (78, 77):  # so that the address is written anew
        page.seek(step)
        page.wait_for_address("t", str(step))
    assert page.query() == given
    expect(page.locator("#notices")).to_be_empty()
    assert page.locator("html").get_attribute("lang") == "zh"
    assert page.locator("html").get_attribute("data-theme") == "dark"
    expect(page.locator("[data-part=waste]")).to_be_hidden()
    expect(page.locator("[data-part=header]")).to_be_hidden()
    assert page.counters()["blocks"].endswith("/48")


def test_what_is_changed_on_the_page_stands_in_a_link_that_opens_the_same(simulator):
    page = simulator().open("?lang=en")
    page.set(mode="paged", seed=77, bs=2)
    page.wait_for_address("bs", "2")
    page.seek(41)
    page.locator("#block-tables [data-focus]").first.click()
    page.wait_for_address("t", "41")
    page.page.wait_for_url(lambda url: "focus=r" in url)
    page.locator("#share").click()
    link = page.locator("#share-link").input_value()
    shown = page.counters()
    again = simulator().open(link.removeprefix(page.address))
    again.wait_for(again.counters, shown)
    again.expect_frame(41)
    again.wait_for(again.query, page.query())


@pytest.mark.parametrize(
    "wrong",
    [
        {
            "bs": ("0", "1"),
            "seed": ("-3", "0"),
            "blocks": ("NaN", "64"),
            "mode": ("sideways", "paged"),
            "t": ("minus", "0"),
        },
        {"bs": ("99999999999999999999", "32"), "seed": ("1.5", "5")},
    ],
    ids=["too little", "too much"],
)
def test_a_value_out_of_bounds_is_corrected_and_told_before_python_is_there(simulator, wrong):
    gates = []
    query = "&".join(f"{key}={value}" for key, (value, _) in wrong.items())
    page = simulator(lambda context: gates.append(Gate(context))).open(f"?lang=en&{query}", python=False)
    for field, (value, used) in wrong.items():
        told = page.locator("#notices .notice").filter(has_text=f"“{field}”")
        expect(told).to_have_count(1)
        expect(told).to_contain_text(value)
        if field == "t":
            page.expect_frame(int(used))
        elif field == "mode":
            expect(page.locator(f"#settings [name=mode][value={used}]")).to_be_checked()
        else:
            expect(page.locator(f"#settings [name={field}]")).to_have_value(used)


@pytest.mark.parametrize(
    ("key", "value", "used"), [("bs", "0", "1"), ("blocks", "9" * 30, "4096"), ("mode", "x", "")]
)
def test_python_runs_the_corrected_value_and_tells_the_correction_once(simulator, key, value, used):
    page = simulator().open(f"?lang=en&seed=9&steps=5&{key}={value}")
    page.wait_for_address("seed", "9")
    page.wait_for_steps(5)
    said = page.locator("#notices .notice")
    expect(said).to_have_count(1)
    expect(said).to_contain_text(value[:20])
    if used:
        page.wait_for_address(key, used)


def test_hostile_words_are_shown_as_text_and_run_nothing(open_without_python):
    keys = ["mode", "sc", "seed", "t", "focus", "lang", "theme", "tab", "hide", "v", "embed"]
    hostile = "<script>window.harm=1</script><img src=x onerror=window.harm=1>"
    for asked in (keys, [key for key in keys if key != "tab"]):
        query = "&".join(f"{key}={quote(hostile)}" for key in asked)
        page = open_without_python(f"?{query}#{quote(hostile)}")
        for key in asked:
            told = page.locator("#notices .notice").filter(has_text=f"“{key}”")
            expect(told).to_contain_text("<script>")
        assert page.page.evaluate("window.harm") is None
        expect(page.locator("#notices script, #notices img")).to_have_count(0)


def test_huge_and_unknown_keys_do_no_harm(open_without_python):
    page = open_without_python(
        f"?seed={'9' * 3000}&t={'9' * 300}&__proto__=1&constructor=2&x={'y' * 2000}&lang=en"
    )
    assert 0 < len(page.locator("#notices").inner_text()) < 1500
    assert page.frame <= 90


def test_back_returns_to_the_tab_before(open_without_python):
    page = open_without_python()
    page.locator("#tab-replay").click()
    page.wait_for_address("tab", "replay")
    page.page.go_back()
    expect(page.locator("#panel-simulate")).to_be_visible()
    page.wait_for_address("tab", "simulate")


def test_experiment_and_replay_settings_come_back_too(open_without_python):
    page = open_without_python("?tab=experiments&lang=en")
    page.locator("[data-experiment=block_size]").click()
    page.wait_for_address("exp", "block_size")
    again = open_without_python(page.page.url.removeprefix(page.address))
    expect(again.locator("[data-experiment=block_size]")).to_have_attribute("aria-current", "true")
    replay = open_without_python("?tab=replay&lang=en&mode=contiguous&bs=32&limit=50")
    expect(replay.locator("#replay-form [name=bs]")).to_have_value("32")
    expect(replay.locator("#replay-form [name=limit]")).to_have_value("50")
    replay.locator("#replay-form [name=bs]").fill("8")
    replay.wait_for_address("bs", "8")
    assert replay.query("mode") == "contiguous"
