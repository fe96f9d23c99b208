"""The page without Python: while it loads, and when it cannot be had."""

import base64
import os
import shutil
import threading

from playwright.sync_api import expect

from app.site.server import SiteServer
from tests.browser.simulator import ABORTED, BOKEH, BOOT_MS, Gate, Simulator, kvscope, without_python


def assert_shows(page, recording, step):
    page.seek(step)
    page.expect_numbers(recording, step)


def play_to(page, step):
    """Plays from the first step on, and pauses once a step has come: the whole run would take 20 s."""
    page.seek(0)
    page.locator("#play").click()
    page.wait_for_frame(step)
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_attribute("data-label", "page.go.play")
    assert step <= page.frame < 90


def test_the_built_in_runs_play_while_python_loads_and_show_the_command_lines_numbers(simulator):
    gates = []
    page = simulator(lambda context: gates.append(Gate(context))).open(python=False)
    expect(page.locator("#python-state")).to_have_attribute("data-python", "loading")
    expect(page.locator("#python-words")).to_contain_text("Loading Python")
    expect(page.locator("#settings [name=sc]")).to_be_disabled()
    contiguous = kvscope("run", mode="contiguous")["recording"]
    for step in (0, 37, 90):
        assert_shows(page, contiguous, step)

    page.locator("#switch-mode").click()
    paged = kvscope("run", mode="paged")["recording"]
    for step in (1, 37):
        assert_shows(page, paged, step)

    play_to(page, 5)

    gates[0].open()
    page.wait_for_python()
    expect(page.locator("#settings [name=sc]")).to_be_enabled()


def test_it_opens_on_a_request_that_waits_though_memory_is_held_and_empty(open_without_python):
    page = open_without_python("")
    frames = kvscope("run", mode="contiguous")["recording"]["frames"]
    first = next(
        t
        for t, head in enumerate(frames["head"])
        if head >= 0 and frames["reserved"][t] + frames["internal"][t]
    )
    page.expect_frame(first)
    empty = frames["reserved"][first] + frames["internal"][first]
    who, needed = frames["head"][first], frames["head_needed"][first]
    expect(page.locator("#headline")).to_have_text(
        f"r{who} waits for {needed} slots while {empty} of 256 slots are reserved and empty."
    )
    page.locator("#switch-mode").click()
    paged = kvscope("run", mode="paged")["recording"]["frames"]
    expect(page.locator("#headline")).to_contain_text(
        f"{paged['running'][first]} run instead of {frames['running'][first]}"
    )
    page.expect_frame(first)


def test_when_python_cannot_load_the_page_says_how_to_run_locally_and_recordings_still_play(
    open_without_python,
):
    page = open_without_python("")
    for command in ("make serve", "panel serve app/main.py"):
        expect(page.locator("#notices")).to_contain_text(command)
    expect(page.locator("#settings [name=seed]")).to_be_disabled()
    play_to(page, 3)
    page.locator("#settings [name=mode][value=paged]").check(force=True)
    page.seek(37)
    page.expect_numbers(kvscope("run", mode="paged")["recording"], 37)


def test_the_settings_are_in_sight_whatever_the_run_has(open_without_python):
    page = open_without_python("")
    expect(page.locator("#settings [name=seed]")).to_be_visible()


def test_the_pictures_that_come_after_the_first_frame_are_there_at_the_frame_shown(open_without_python):
    page = open_without_python("")
    for figure in ("pool", "waste", "timeline"):
        expect(page.locator(f"#bokeh-{figure} canvas").first).to_be_visible()


def test_it_plays_before_bokeh_is_there_and_looks_the_same(simulator):
    gates = []

    def without_either(context):
        without_python(context)
        gates.append(Gate(context, BOKEH))

    page = simulator(without_either, allowed=(ABORTED,)).open_in_vain(bokeh=False)
    sketch = page.locator("#pool-figure .pool-sketch")
    play_to(page, 5)
    page.seek(37)
    page.expect_numbers(kvscope("run", mode="contiguous")["recording"], 37)
    expect(sketch).to_be_visible()
    assert not page.page.evaluate("Boolean(window.Bokeh)")
    sketched = page.locator("#pool-figure").screenshot()

    gates[0].open()
    expect(sketch).to_have_count(0)
    expect(page.locator("html")).to_have_attribute("data-drawn", "true")
    assert share_that_differs(page.page, sketched, page.locator("#pool-figure").screenshot()) < 0.005


def test_without_bokeh_the_pool_still_plays_and_the_page_says_what_is_missing(simulator):
    def without_either(context):
        without_python(context)
        context.route(BOKEH, lambda route: route.abort())

    page = simulator(without_either, allowed=(ABORTED, "could not be loaded")).open_in_vain(bokeh=False)
    expect(page.locator("[data-notice=figures]")).to_contain_text("Only the pool can be drawn")
    page.seek(37)
    page.expect_numbers(kvscope("run", mode="contiguous")["recording"], 37)
    expect(page.locator("#pool-figure .pool-sketch")).to_be_visible()


def share_that_differs(page, one, other):
    """Share of the pixels in which two pictures of one size differ visibly."""
    return page.evaluate(
        """async (pictures) => {
            const [one, other] = await Promise.all(pictures.map(async (base64) => {
                const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
                const picture = await createImageBitmap(new Blob([bytes]));
                const ctx = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
                ctx.drawImage(picture, 0, 0);
                return ctx.getImageData(0, 0, picture.width, picture.height);
            }));
            let differing = one.data.length === other.data.length ? 0 : Infinity;
            for (let i = 0; i < one.data.length; i += 4) {
                differing += [0, 1, 2].some((c) => Math.abs(one.data[i + c] - other.data[i + c]) > 24);
            }
            return (4 * differing) / one.data.length;
        }""",
        [base64.b64encode(each).decode() for each in (one, other)],
    )


def test_experiments_show_their_built_in_results_without_python_and_cannot_be_run(open_without_python):
    page = open_without_python("?tab=experiments")
    expect(page.locator("#experiment-result [data-claim]").first).to_be_visible()
    expect(page.locator("#experiment-run [data-run]")).to_be_disabled()


def test_a_tab_whose_data_cannot_be_fetched_says_so_and_the_first_goes_on(simulator):
    def without_tabs(context):
        without_python(context)
        context.route("**/tabs.*.json", lambda route: route.abort())

    allowed = (ABORTED, "Failed to fetch")
    page = simulator(without_tabs, allowed=allowed).open_in_vain()
    page.locator("#tab-experiments").click()
    expect(page.locator("[data-notice=tab]")).to_contain_text("could not be opened")
    page.locator("#tab-simulate").click()
    page.seek(37)
    page.expect_numbers(kvscope("run", mode="contiguous")["recording"], 37)


def test_a_link_to_other_settings_says_that_it_needs_python_when_there_is_none(open_without_python):
    page = open_without_python("?seed=77&mode=paged")
    expect(page.locator("#notices")).to_contain_text("need Python")
    expect(page.locator("#settings [name=seed]")).to_have_value("5")


def test_a_site_that_lacks_a_part_of_python_says_which(new_context, site, tmp_path):
    broken = tmp_path / "site"
    shutil.copytree(site, broken, copy_function=os.link)
    next(broken.glob("assets/python/image.*.bin")).unlink()
    with SiteServer(broken, 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        page = Simulator(new_context(), server.address).open(python=False)
        expect(page.locator("#python-state")).to_have_attribute("data-python", "failed", timeout=BOOT_MS)
        expect(page.locator("[data-notice=python]")).to_contain_text("image")
        expect(page.locator("[data-notice=python]")).to_contain_text("make serve")
        server.shutdown()
