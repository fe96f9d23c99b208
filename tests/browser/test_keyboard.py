"""Keys of the page, and that they stay out of the way of whoever types or uses a control."""

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import kvscope

MARKED = {"Finished", "Waiting", "Preempted", "Rejected"}


@pytest.fixture
def page(open_without_python):
    return open_without_python("?mode=contiguous&t=10&lang=en")


def marked_steps():
    """Steps of the built-in run with a mark: somebody finishes, or begins to wait."""
    recording = kvscope("run", mode="contiguous")["recording"]
    starts, events = recording["frames"]["event_start"], recording["events"]
    found, waiting = [], None
    for t in range(recording["steps"] + 1):
        for i in range(starts[t], starts[t + 1]):
            kind, seq = events["kind"][i], events["seq"][i]
            if kind in MARKED and not (kind == "Waiting" and seq == waiting):
                found.append(t)
            waiting = seq if kind == "Waiting" else waiting
    return sorted(set(found))


def press(page, *keys):
    for key in keys:
        page.page.keyboard.press(key)


def test_arrows_step_home_and_end_go_to_the_ends(page):
    press(page, "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowRight")
    page.expect_frame(12)
    press(page, "Home")
    page.expect_frame(0)
    press(page, "ArrowLeft")
    page.expect_frame(0)
    press(page, "End")
    page.expect_frame(90)
    expect(page.locator("#frame")).to_have_attribute("aria-valuetext", "Step 90 of 90")


def test_shift_and_arrows_jump_to_the_marks(page):
    marks = marked_steps()
    ahead = [t for t in marks if t > 10]
    press(page, "Shift+ArrowRight")
    page.expect_frame(ahead[0])
    press(page, "Shift+ArrowRight")
    page.expect_frame(ahead[1])
    press(page, "Shift+ArrowLeft")
    page.expect_frame(ahead[0])


def test_space_plays_and_pauses_and_brackets_change_the_speed(page):
    press(page, "]", "]")
    expect(page.locator("#speed")).to_have_value("16")
    press(page, "[")
    expect(page.locator("#speed")).to_have_value("8")
    press(page, "[", "Space")  # 20 s to the end of the run
    expect(page.locator("#play")).to_have_attribute("data-label", "page.go.pause")
    page.wait_for_frame(13)
    press(page, "Space")
    expect(page.locator("#play")).to_have_attribute("data-label", "page.go.play")
    stopped = page.frame
    page.page.wait_for_timeout(600)
    assert page.frame == stopped < 90


def test_numbers_open_tabs_question_mark_opens_help_and_escape_closes_it(page):
    press(page, "2")
    expect(page.locator("#panel-experiments")).to_be_visible()
    expect(page.locator("#panel-simulate")).to_be_hidden()
    press(page, "3")
    expect(page.locator("#panel-replay")).to_be_visible()
    press(page, "1")
    expect(page.locator("#panel-simulate")).to_be_visible()
    press(page, "?")
    expect(page.locator("#help-dialog")).to_be_visible()
    press(page, "2")  # the dialog keeps the keys
    expect(page.locator("#panel-simulate")).to_be_visible()
    press(page, "Escape")
    expect(page.locator("#help-dialog")).to_be_hidden()


def test_the_transports_keys_are_idle_while_another_tab_is_open(page):
    press(page, "2", "ArrowRight", "End", "1")
    page.expect_frame(10)


def test_keys_are_ignored_while_typing(page):
    page.locator("#share").click()
    page.locator("#share-link").focus()
    press(page, "End", "2", "?")
    expect(page.locator("#panel-simulate")).to_be_visible()
    press(page, "Escape")
    page.expect_frame(10)


def test_the_slider_takes_an_arrow_once(page):
    page.locator("#frame").focus()
    press(page, "ArrowRight")
    page.expect_frame(11)


def test_space_on_a_button_presses_that_button_only(page):
    page.locator("#step").focus()
    press(page, "Space")
    page.expect_frame(11)
    page.page.wait_for_timeout(400)
    page.expect_frame(11)


def test_tabs_are_walked_with_arrows(page):
    page.locator("#tab-simulate").focus()
    press(page, "ArrowRight")
    expect(page.locator("#tab-experiments")).to_be_focused()
    expect(page.locator("#tab-experiments")).to_have_attribute("aria-selected", "true")
    press(page, "End")
    expect(page.locator("#tab-sizing")).to_be_focused()
    press(page, "ArrowRight")
    expect(page.locator("#tab-simulate")).to_be_focused()
    page.expect_frame(10)


def test_every_control_of_the_first_tab_is_reached_with_tab_and_shows_it(page):
    reached = []
    page.locator("h1").click()
    for _ in range(80):
        press(page, "Tab")
        here = page.page.evaluate(
            """() => {
                const e = document.activeElement;
                const style = getComputedStyle(e);
                const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
                const label = e.closest("label");
                const lit = label && getComputedStyle(label.querySelector("span")).outlineStyle !== "none";
                return [e.id || e.name || e.className, ring || Boolean(lit) || style.boxShadow !== "none"];
            }"""
        )
        if here[0] == "frame":
            reached.append(here)
            break
        reached.append(here)
    names = [name for name, _ in reached]
    for wanted in (
        "tab-simulate",
        "language",
        "theme",
        "share",
        "help",
        "switch-mode",
        "play",
        "speed",
        "frame",
    ):
        assert wanted in names, names
    assert [name for name, visible in reached if not visible] == []
