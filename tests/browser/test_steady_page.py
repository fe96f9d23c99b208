"""What arrives late or changes with a frame moves nothing under the reader's eyes and pointer."""

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import Gate

WIDTHS = ((1440, 900), (1024, 768), (390, 844))
GOOD = 0.1  # cumulative layout shift, https://web.dev/articles/cls
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, startTime, sources } of list.getEntries()) {
    const moved = sources.map(({ node, previousRect, currentRect }) =>
      `${node?.id || node?.className || node?.nodeName} ${previousRect.y} to ${currentRect.y}`);
    window.shifts.push({ value, startTime, moved });
  }
}).observe({ type: "layout-shift", buffered: true });
"""


def watched(simulator, size, *prepare):
    """A page of a window of its own, in which nothing has been kept from a visit before."""
    window = dict(zip(("width", "height"), size, strict=True))
    return simulator(lambda context: context.add_init_script(WATCH), *prepare, viewport=window)


def shifts_of(page, since=""):
    """All shifts after a mark of the page, those of the frame that is being made included."""
    return page.page.evaluate(
        """async (since) => {
            const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
            await frame();
            await frame();
            await new Promise((told) => setTimeout(told, 50));
            const from = performance.getEntriesByName(since)[0]?.startTime ?? 0;
            return window.shifts.filter(({ startTime }) => startTime > from);
        }""",
        since,
    )


def top_of_the_pool(page):
    return page.locator("#pool-figure").evaluate("place => place.getBoundingClientRect().top + scrollY")


@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_jumps_while_the_page_starts(simulator, size, lang):
    page = watched(simulator, size).open(f"?lang={lang}")
    expect(page.locator("html")).to_have_attribute("data-drawn", "true")
    shifts = shifts_of(page)
    assert sum(shift["value"] for shift in shifts) < GOOD, shifts


@pytest.mark.parametrize("size", WIDTHS)
def test_the_pool_stays_where_it_is_at_every_step(simulator, size):
    page = watched(simulator, size).open("?lang=en", python=False)
    for mode in ("contiguous", "paged"):
        tops = set()
        for step in range(0, 91, 3):
            page.seek(step)
            tops.add(top_of_the_pool(page))
        assert len(tops) == 1, (mode, tops)
        page.locator("#switch-mode").click()


@pytest.mark.parametrize("size", WIDTHS)
def test_the_comparison_that_python_adds_later_moves_nothing(simulator, size):
    page = watched(simulator, size).open("?lang=en&mode=paged&sc=shared_prompts&cache=radix&t=40")
    expect(page.locator("#headline")).to_contain_text("instead of")
    moved = [each for shift in shifts_of(page, since="kvscope.answer") for each in shift["moved"]]
    assert [each for each in moved if each.startswith(("workbench", "subline", "story"))] == []


def test_a_run_that_is_still_to_come_is_told_without_moving_the_page(simulator):
    gates = []
    page = watched(simulator, WIDTHS[0], lambda context: gates.append(Gate(context)))
    page.open("?lang=en&seed=9", python=False)
    expect(page.locator("#passing [data-notice=run]")).to_contain_text("as soon as Python is ready")
    before = top_of_the_pool(page)
    gates[0].open()
    page.wait_for_python()
    expect(page.locator("#passing")).to_be_empty()
    assert top_of_the_pool(page) == before
