"""The attention lab: numpy comes when it is asked for, computes what CPython computes, and may be missing."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, kvscope

# Runs in the page's worker: asks as the page does, until the answer is whole.
ASK_THE_WORKER = """async (request) => {
    const post = self.postMessage.bind(self);
    let answer;
    self.postMessage = (message, ...rest) =>
        message.id === "asked" ? answer(message) : post(message, ...rest);
    const ask = (request) => new Promise((resolve) => {
        answer = resolve;
        self.dispatchEvent(new MessageEvent("message", { data: { id: "asked", request } }));
    });
    let { response } = await ask(request);
    while (response.more) {
        ({ response } = await ask({ kind: "continue", job: response.more }));
    }
    self.postMessage = post;
    return response;
}"""

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


def test_numpy_is_fetched_when_the_experiment_is_run_and_not_before(simulator):
    page = simulator().open(LAB)
    expect(page.locator(SENTENCE)).to_contain_text("All is read")
    assert not any(NUMPY.search(url) for url in page.asked)
    run(page, "blocks_of_16")
    assert len([url for url in page.asked if NUMPY.search(url)]) == 1
    run(page, "ascending")
    assert len([url for url in page.asked if NUMPY.search(url)]) == 1


def test_the_browser_generates_the_tokens_that_cpython_generates(simulator):
    page = simulator().open(LAB)
    run(page, "blocks_of_16")
    settings = {"block_size": 16, "order": "shuffled", "request": 5, "layer": 0, "head": 0, "seed": 5}
    (worker,) = page.page.workers
    answered = worker.evaluate(
        ASK_THE_WORKER,
        {"kind": "experiment", "name": "paged_attention", "settings": settings},
    )["sources"]["report"]
    told = kvscope("experiment", "paged_attention", "--preset", "blocks_of_16")
    answers = answered["pictures"]["answers"]
    assert answers == told["pictures"]["answers"]
    assert sum(map(len, answers["tokens"])) == told["figures"]["tokens"] > 0
    trace, expected = answered["pictures"]["trace"], told["pictures"]["trace"]
    assert trace["block"] == expected["block"]
    assert trace["weights"] == pytest.approx(expected["weights"], abs=1e-6)
    assert trace["weights"] == pytest.approx(trace["dense_weights"], abs=1e-6)


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
