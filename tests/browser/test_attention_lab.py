"""The attention lab: numpy comes when it is asked for, computes what CPython computes, and may be missing."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, kvscope

NUMPY = re.compile(r"/numpy\.\w+\.whl$")
LAB = "?tab=experiments&exp=paged_attention&lang=en"
SAID = "#experiment-run [data-said]"
PROBLEM = "#panel-experiments [data-problem]"
SENTENCE = "[data-picture=trace] .picture-sentence"


@pytest.fixture(autouse=True)
def numpy_shipped(site):
    """The build goes on without numpy where no source has the wheel; these tests do not."""
    assert list(site.glob("assets/python/numpy.*.whl")), "the site was built without numpy"


def run(page, preset):
    page.locator(f"[data-experiment-form=paged_attention] [data-preset={preset}]").click()
    expect(page.locator(SAID)).to_have_text("Measured by Python just now.", timeout=BOOT_MS)


def test_numpy_is_fetched_once_and_for_a_run_only_and_gives_the_tokens_of_cpython(simulator, tmp_path):
    page = simulator().open(LAB)
    expect(page.locator(SENTENCE)).to_contain_text("All is read")
    assert not any(NUMPY.search(url) for url in page.asked)
    run(page, "blocks_of_16")
    assert len([url for url in page.asked if NUMPY.search(url)]) == 1
    expect(page.locator(SENTENCE)).to_contain_text("All is read")
    _, saved = page.saved("[data-report-export=json]", tmp_path)
    shown = json.loads(saved)["pictures"]
    told = kvscope("experiment", "paged_attention", "--preset", "blocks_of_16")
    assert shown["answers"] == told["pictures"]["answers"]
    assert sum(map(len, shown["answers"]["tokens"])) == told["figures"]["tokens"] > 0
    trace, expected = shown["trace"], told["pictures"]["trace"]
    assert trace["block"] == expected["block"]
    assert trace["weights"] == pytest.approx(expected["weights"], abs=1e-6)
    assert trace["weights"] == pytest.approx(trace["dense_weights"], abs=1e-6)
    run(page, "ascending")
    assert len([url for url in page.asked if NUMPY.search(url)]) == 1


def test_the_picture_steps_through_the_blocks_with_the_keyboard(simulator):
    page = simulator().open(LAB, python=False)
    expect(page.locator(SENTENCE)).to_contain_text("All is read")
    slider = page.locator("[data-picture=trace] input[type=range]")
    last = int(slider.get_attribute("max"))
    slider.focus()
    page.page.keyboard.press("Home")
    expect(page.locator(SENTENCE)).to_contain_text("is read first")
    reading = page.locator("[data-picture=trace] .memory-strip .reading")
    read = page.locator("[data-picture=trace] .memory-strip .read")
    blocks = page.locator("#experiment-result table").first.locator("tbody tr td:nth-child(2)")
    for at in range(last + 1):
        expect(reading).to_have_text(blocks.nth(at).inner_text())
        expect(read).to_have_count(at)
        page.page.keyboard.press("ArrowRight")
    expect(page.locator(SENTENCE)).to_contain_text("All is read")
    expect(slider).to_have_attribute("aria-valuetext", f"Block {last + 1} of {last + 1}")


def test_numpy_that_does_not_arrive_is_told_and_can_be_tried_again(simulator):
    def cut(context):
        context.route(NUMPY, lambda route: route.abort())

    page = simulator(cut, allowed=("net::ERR_FAILED", "Failed to fetch")).open(LAB)
    form = page.locator("[data-experiment-form=paged_attention]")
    form.locator("[data-preset=blocks_of_1]").click()
    expect(page.locator(PROBLEM)).to_contain_text("numpy could not be loaded", timeout=BOOT_MS)
    expect(page.locator(SENTENCE)).to_be_visible()
    page.page.context.unroute(NUMPY)
    page.locator("#experiment-run [data-run]").click()
    expect(page.locator(SAID)).to_have_text("Measured by Python just now.", timeout=BOOT_MS)
    expect(page.locator(PROBLEM)).to_be_empty()


def test_a_site_without_numpy_says_so_instead_of_failing(simulator):
    def without(context):
        def page_without(route):
            answer = route.fetch()
            body, found = re.subn(r',"python/numpy.whl":"[^"]+"', "", answer.text())
            assert found == 1
            route.fulfill(response=answer, body=body)

        context.route(re.compile(r"/\?tab="), page_without)

    page = simulator(without).open(LAB)
    page.locator("[data-experiment-form=paged_attention] [data-preset=blocks_of_1]").click()
    expect(page.locator(PROBLEM)).to_contain_text("built without numpy")
    expect(page.locator(SENTENCE)).to_be_visible()
