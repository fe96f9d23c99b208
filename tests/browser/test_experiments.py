"""The Experiments tab: built-in results, and runs measured by Python, with every claim and its verdict."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, HeldAnswers, kvscope

NAMES = ("fragmentation", "external_fragmentation", "block_size")


@pytest.fixture
def page(simulator):
    return simulator().open("?tab=experiments&lang=en")


def verdicts(page):
    """Claim → whether the page says that it holds."""
    return page.locator("#experiment-result [data-claim]").evaluate_all(
        "all => Object.fromEntries(all.map((each) => [each.dataset.claim, each.dataset.holds === 'true']))"
    )


def test_each_experiment_runs_and_shows_the_claims_of_the_command_line(page):
    for name in NAMES:
        page.locator(f"[data-experiment={name}]").click()
        expect(page.locator(f"[data-experiment={name}]")).to_have_attribute("aria-current", "true")
        page.locator("#experiment-run [data-run]").click()
        said = page.locator("#experiment-run [data-said]")
        expect(said).to_have_text("Measured by Python just now.", timeout=BOOT_MS)
        report = kvscope("experiment", name)
        claims = report["report"]["claims"] if "report" in report else report["claims"]
        page.wait_for(lambda: verdicts(page), {claim["id"]: claim["holds"] for claim in claims})
        expect(page.locator("#experiment-result .chart-figure canvas").first).to_be_attached()
        for claim in claims:
            expect(page.locator(f"[data-claim='{claim['id']}']")).to_contain_text(claim["en"])


def test_a_value_that_cannot_be_is_refused_with_what_was_expected(page):
    page.locator("[data-experiment=block_size]").click()
    form = page.locator("[data-experiment-form=block_size]")
    form.locator("details.advanced").evaluate("fold => { fold.open = true; }")
    field = form.locator("input[type=number]").first
    field.fill("-5")
    page.locator("#experiment-run [data-run]").click()
    expect(page.locator("#panel-experiments [data-problem]")).to_contain_text("“-5”", timeout=BOOT_MS)


def test_a_run_can_be_stopped(page):
    page.locator("[data-experiment=fragmentation]").click()
    form = page.locator("[data-experiment-form=fragmentation]")
    presets = form.locator("[data-preset]")
    held = HeldAnswers(page)
    presets.last.click()
    stop = page.locator("#experiment-run [data-stop]")
    stop.click()
    expect(stop).to_be_hidden()
    expect(page.locator("#experiment-run [data-run]")).to_be_enabled()
    held.release()
    presets.first.click()
    expect(page.locator("#experiment-result [data-claim]").first).to_be_visible()


def test_a_link_on_a_phone_shows_the_experiment_below_folded_subjects(simulator):
    page = simulator(viewport={"width": 390, "height": 844}).open(
        "?tab=experiments&exp=starvation", python=False
    )
    expect(page.locator("#experiment-result [data-claim]").first).to_be_attached()
    subjects = page.locator(".experiment-subject")
    assert subjects.count() >= 4
    expect(page.locator(".experiment-subject[open]")).to_have_count(0)
    expect(page.locator("#experiment-title")).to_be_in_viewport()
    subjects.last.evaluate("fold => { fold.open = true; }")
    subjects.last.locator("[data-experiment]").last.click()
    expect(page.locator("#experiment-title")).to_be_in_viewport()


def test_beside_the_experiment_the_list_shows_the_current_card(simulator):
    page = simulator(viewport={"width": 1280, "height": 900}).open(
        "?tab=experiments&exp=usage_zero", python=False
    )
    expect(page.locator("[data-experiment=usage_zero]")).to_be_in_viewport()
    expect(page.locator("#experiment-title")).to_be_in_viewport()


def test_a_report_can_be_saved_as_csv_json_and_png(page, tmp_path):
    page.locator("[data-experiment=watermark]").click()
    expect(page.locator("#experiment-title")).to_have_text("How much to leave free")
    expect(page.locator("[data-chart] canvas").first).to_be_attached()
    saved = {}
    for kind in ("csv", "json", "png"):
        name, saved[kind] = page.saved(f"[data-report-export={kind}]", tmp_path)
        assert name == f"kvscope-watermark.{kind}"
    report = json.loads(saved["json"])
    assert report["settings"] == kvscope("experiment", "watermark")["settings"]
    lines = saved["csv"].decode().splitlines()
    (table,) = report["tables"]
    assert len(lines) == 2 + len(table["rows"])
    assert [float(cell) for cell in lines[2].split(",")] == table["rows"][0]
    assert saved["png"].startswith(b"\x89PNG")


def test_exports_of_a_run_are_offered_where_a_run_is_shown(page):
    page.locator("#share").click()
    expect(page.locator("#share-link")).to_have_value(re.compile("tab=experiments"))
    expect(page.locator("[data-export]").first).to_be_hidden()
    page.page.keyboard.press("Escape")
    page.locator("#tab-simulate").click()
    page.locator("#share").click()
    expect(page.locator("[data-export]").first).to_be_visible()
