"""axe finds nothing critical or serious on any tab, in either width, theme and language; pictures are kept.

The pictures lie in artifacts/screenshots/ and are to be looked at: axe sees no ugliness.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, ROOT

SCREENSHOTS = ROOT / "artifacts" / "screenshots"
TRACE = b"arrival_s,prompt,output\n" + b"".join(
    b"%d,%d,%d\n" % (i // 9, 40 + i * 13 % 300, 5 + i % 70) for i in range(120)
)


def findings(page):
    """Critical and serious findings, each with the elements it is about."""
    found = Axe().run(page.page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']}: {' | '.join(node['html'][:120] for node in each['nodes'][:4])}"
        for each in found
        if each["impact"] in ("critical", "serious")
    ]


def open_simulate(page):
    page.seek(38)


def open_experiments(page):
    page.locator("#tab-experiments").click()
    expect(page.locator("#experiment-result [data-claim]").first).to_be_visible()
    expect(page.locator("#experiment-result canvas").first).to_be_attached()


def open_experiment(page, name, picture):
    card = f"[data-experiment={name}]"
    page.locator(f".experiment-subject:has({card})").evaluate("fold => { fold.open = true; }")
    page.locator(card).click()
    expect(page.locator(f"[data-picture={picture}] .picture-sentence")).not_to_be_empty()
    expect(page.locator(f"[data-picture={picture}] canvas").first).to_be_attached()


def open_beams(page):
    page.locator("#tab-simulate").click()
    page.locator("#settings-fold").evaluate("fold => { fold.open = true; }")
    page.set(sc="beam", mode="paged")
    page.seek(20)
    expect(page.locator("#beam-card canvas").first).to_be_attached(timeout=BOOT_MS)


def open_prefixes(page):
    page.set(sc="shared_prompts", cache="radix", rules="sglang")
    page.seek(40)
    page.locator("#prefix-card").evaluate("fold => { fold.open = true; }")
    expect(page.locator("#prefix-labels span").first).to_be_attached(timeout=BOOT_MS)
    page.locator("#prefix-twin summary").click()
    page.locator("#twin-fold summary").click()


def open_replay(page):
    page.locator("#tab-replay").click()
    page.set_replay(blocks=200)
    page.drop("a-day.csv", TRACE)
    expect(page.locator("#replay-table tbody tr").first).to_be_visible(timeout=BOOT_MS)
    for columns, changed in ((3, {"mode": "contiguous"}), (4, {"mode": "paged", "bs": 64})):
        page.set_replay(**changed)
        page.locator("#replay-run [data-run]").click()
        expect(page.locator("#replay-table thead th")).to_have_count(columns, timeout=BOOT_MS)
    expect(page.locator("#replay-pool-figure canvas").first).to_be_attached()
    expect(page.locator("[data-chart=end_to_end] canvas").first).to_be_attached()


def open_sizing(page, model):
    page.locator("#tab-sizing").click()
    page.locator("#sizing-settings").evaluate("fold => { fold.open = true; }")
    page.locator("#sizing-form [name=model]").select_option(model)
    expect(page.locator("#sizing-deployment")).to_contain_text(model)
    expect(page.locator("#sizing-curve-figure canvas").first).to_be_attached()


TABS = {
    "simulate": open_simulate,
    "experiments": open_experiments,
    "replay": open_replay,
    "sizing": lambda page: open_sizing(page, "Qwen3-8B"),
}
PICTURES = {
    "attention": lambda page: open_experiment(page, "paged_attention", "trace"),
    "beam-search": lambda page: open_experiment(page, "beam_search", "tree"),
    "sizing-refused": lambda page: open_sizing(page, "Llama-3-70B"),
    "beams": open_beams,
    "prefixes": open_prefixes,
}
# All tabs in every width, theme and language; what else a tab can hold in two that differ in all three.
IN_FULL = ((1440, "light", "en"), (390, "dark", "zh"))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_critical_or_serious(simulator, width, theme, lang):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    height = 900 if width > 900 else 844
    page = simulator(viewport={"width": width, "height": height}).open(f"?lang={lang}&theme={theme}")
    found = {}
    shown = TABS
    if (width, theme, lang) in IN_FULL:  # pictures of an experiment while its tab is open
        tabs = dict(TABS)
        first = {name: tabs.pop(name) for name in ("simulate", "experiments")}
        pictures = dict(PICTURES)
        of_experiments = {name: pictures.pop(name) for name in ("attention", "beam-search")}
        shown = {**first, **of_experiments, **tabs, **pictures}
    for tab, show in shown.items():
        show(page)
        page.page.mouse.move(0, 0)
        page.page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
        page.page.screenshot(path=SCREENSHOTS / f"{tab}-{width}-{theme}-{lang}.png", full_page=True)
        found[tab] = findings(page)
    assert found == {tab: [] for tab in found}
    order = page.page.evaluate(
        "() => [document.querySelectorAll('h1').length, document.querySelectorAll('main').length]"
    )
    assert order == [1, 1]


@pytest.mark.parametrize("dialog", ["help", "share"])
def test_axe_finds_nothing_in_the_dialogs(simulator, dialog):
    page = simulator().open("?lang=en", python=False)
    page.locator(f"#{dialog}").click()
    expect(page.locator(f"#{dialog}-dialog")).to_be_visible()
    page.page.screenshot(path=SCREENSHOTS / f"{dialog}-1440-light-en.png")
    assert findings(page) == []


def test_the_log_speaks_while_paused_and_keeps_quiet_while_playing(simulator):
    page = simulator().open("?lang=en", python=False)
    expect(page.locator("#log")).to_have_attribute("aria-live", "polite")
    page.seek(0)
    page.locator("#play").click()
    expect(page.locator("#log")).to_have_attribute("aria-live", "off")
    page.locator("#play").click()
    expect(page.locator("#log")).to_have_attribute("aria-live", "polite")
