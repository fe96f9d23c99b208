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


def findings(page, *, colours=True):
    """Critical and serious findings, each with the elements it is about; `colours`: contrast of texts too."""
    options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": colours}}}
    found = Axe().run(page.page, options=options).response["violations"]
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
    page.set(mode="paged", sc="beam")
    page.wait_for_address("sc", "beam")
    page.seek(20)
    expect(page.locator("#beam-card canvas").first).to_be_attached(timeout=BOOT_MS)


def open_prefixes(page):
    page.set(sc="shared_prompts", cache="radix", rules="sglang")
    page.wait_for_address("rules", "sglang")
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
# What else a tab can hold.
PICTURES = {
    "simulate": {"beams": open_beams, "prefixes": open_prefixes},
    "experiments": {
        "attention": lambda page: open_experiment(page, "paged_attention", "trace"),
        "beam-search": lambda page: open_experiment(page, "beam_search", "tree"),
    },
    "replay": {},
    "sizing": {"sizing-refused": lambda page: open_sizing(page, "Llama-3-70B")},
}
WINDOWS = {1440: 900, 390: 844}
# The next is always one button away. A tab is looked at in each; contrast, which is four fifths of the work
# and has nothing to do with the language, once in each theme; what else it holds in one dress at each width.
DRESSES = (("light", "en"), ("dark", "en"), ("dark", "zh"), ("light", "zh"))
FULL = (DRESSES[0], DRESSES[2])


def in_each_dress(page, first):
    """Yields each theme and language once the page has it, and comes back to the first."""
    at = DRESSES.index(first)
    for turn in range(len(DRESSES)):
        theme, lang = dress = DRESSES[(at + turn) % len(DRESSES)]
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        expect(page.locator("html")).to_have_attribute("lang", lang)
        yield dress
        page.locator(("#theme", "#language")[turn % 2]).click()


def look_at(page, name, width, dress):
    """Takes a picture; what axe finds."""
    page.page.mouse.move(0, 0)
    page.page.evaluate(
        """async () => {
            document.activeElement.blur();
            scrollTo(0, 0);
            await Promise.all(document.getAnimations().map((each) => each.finished.catch(() => {})));
        }"""
    )
    page.page.screenshot(path=SCREENSHOTS / f"{name}-{width}-{'-'.join(dress)}.png", full_page=True)
    return findings(page, colours=dress in FULL)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("width", WINDOWS)
def test_axe_finds_nothing_critical_or_serious(simulator, width, tab):
    theme, lang = first = FULL[list(WINDOWS).index(width)]
    window = {"width": width, "height": WINDOWS[width]}
    page = simulator(viewport=window).open(f"?lang={lang}&theme={theme}")
    TABS[tab](page)
    found = {(tab, *dress): look_at(page, tab, width, dress) for dress in in_each_dress(page, first)}
    assert len(found) == len(DRESSES)
    for name, show in PICTURES[tab].items():
        show(page)
        found[name, *first] = look_at(page, name, width, first)
    assert {at: said for at, said in found.items() if said} == {}
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
