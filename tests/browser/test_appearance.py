"""Language, theme, motion and width."""

import re

import pytest
from playwright.sync_api import expect

CJK = re.compile(r"[\u4e00-\u9fff]")


def test_a_click_changes_every_word_and_back(open_without_python):
    page = open_without_python()
    before = page.locator("body").inner_text()
    page.locator("#language").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    for part in (
        "#headline",
        "#subline",
        "#pool-title",
        "#now-sentence",
        "#log",
        "#tab-experiments",
        "#switch-mode",
    ):
        assert CJK.search(page.locator(part).inner_text()), part
    for element in page.locator("[data-label]").all():
        assert element.get_attribute("aria-label")
    page.wait_for_address("lang", "zh")
    page.locator("#language").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    after = page.locator("body").inner_text()
    assert after.splitlines() == before.splitlines()


def test_a_chinese_browser_gets_chinese(open_without_python):
    page = open_without_python("", locale="zh-CN")
    expect(page.locator("html")).to_have_attribute("lang", "zh")


def test_the_theme_follows_the_system_until_the_button_is_pressed(open_without_python):
    page = open_without_python(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    ground = "e => getComputedStyle(e).backgroundColor"
    dark = page.locator("html").evaluate(ground)
    page.locator("#theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.locator("html").evaluate(ground) != dark
    page.wait_for_address("theme", "light")


def test_nothing_moves_by_itself_and_with_reduced_motion_nothing_glides(open_without_python):
    page = open_without_python(reduced_motion="reduce")
    start = page.frame
    page.page.wait_for_timeout(600)
    assert page.frame == start
    page.locator("#step").click()
    page.expect_frame(start + 1)
    gliding = page.page.evaluate(
        "() => document.getAnimations().filter((a) => a.playState === 'running').length"
    )
    assert gliding == 0


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("tab", ["simulate", "experiments", "replay"])
def test_no_sideways_scroll_on_a_phone_or_at_four_times_the_size(open_without_python, tab, lang):
    # 1280 px at 400 % are 320 px.
    page = open_without_python(
        f"?tab={tab}&lang={lang}", viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
    )
    for width in (390, 320):
        page.page.set_viewport_size({"width": width, "height": 800})
        page.wait_for(lambda: page.page.evaluate("innerWidth"), width)
        page.expect_no_sideways_scroll()


def test_on_a_phone_the_pool_is_eight_by_eight_with_cells_one_can_hit(open_without_python):
    page = open_without_python(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    box = page.locator("#pool-figure").bounding_box()
    assert box["width"] / 8 >= 40
    assert box["height"] / 8 >= 40
    transport = page.locator("#play").bounding_box()
    assert transport["y"] + transport["height"] <= 844, "the transport stays at the bottom of the window"


@pytest.mark.parametrize(("width", "least"), [(1440, 24), (390, 40)])
def test_targets_are_large_enough(open_without_python, width, least):
    page = open_without_python(viewport={"width": width, "height": 844})
    small = page.page.evaluate(
        """(least) => [...document.querySelectorAll("button, select, summary, input, [role=tab]")]
            .filter((e) => e.checkVisibility() && !e.closest("[hidden], table, .log"))
            .map((e) => (e.matches("input[type=radio], input[type=checkbox]") ? e.closest("label") : e))
            .map((e) => [e.id || e.className || e.textContent.trim(), e.getBoundingClientRect()])
            .filter(([, box]) => box.height < least || box.width < least)
            .map(([name, box]) => `${name}: ${Math.round(box.width)} × ${Math.round(box.height)}`)""",
        least,
    )
    assert small == []
