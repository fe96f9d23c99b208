"""The Replay tab: a trace gives the command line's numbers, can be stopped and compared, and goes nowhere."""

import csv
import json
import re
from io import StringIO

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, HeldAnswers, kvscope
from tests.shared import shared

SMALL = b"arrival_s,prompt,output\n" + b"".join(
    b"%d,%d,%d\n" % (i // 3, 20 + i * 7 % 90, 3 + i % 40) for i in range(60)
)
FIELDS = (
    "num_requests",
    "num_finished",
    "num_rejected",
    "num_preemptions",
    "max_running",
    "num_steps",
    "end_ns",
)
FIELDS += ("tokens_in", "tokens_out", "mean_running", "utilisation", "fragmented_steps")
FIELDS += ("requests_per_second", "tokens_per_second", "attainment", "goodput")
TIMES = ("queueing", "ttft", "tpot", "end_to_end", "normalized")
# A model on GPUs, an engine and a promise, none of them the defaults.
DEPLOYED = {
    "model": "Qwen2.5-7B",
    "gpu": "RTX-4090",
    "tp": 2,
    "kvbits": 8,
    "util": 85,
    "blocks": 0,
    "rules": "vllm-v1",
    "budget": 512,
    "seqs": 12,
    "cache": "hash",
    "speed": 20,
    "slottft": 150,
    "slotpot": 20,
}


@pytest.fixture
def page(simulator):
    return simulator().open("?tab=replay&lang=en")


def said(page):
    return page.locator("#replay-run [data-said]")


def columns(page):
    return page.locator("#replay-table thead th")


def wait_for_result(page, requests):
    expect(said(page)).to_have_text(f"{requests:,} requests were replayed.", timeout=BOOT_MS)


def run(page):
    page.locator("#replay-run [data-run]").click()


def figures(page):
    """Field → exact value, of the newest column of the table."""
    return page.locator("#replay-table tbody tr").evaluate_all(
        """all => Object.fromEntries(
            all.map((row) => [row.dataset.field, Number(row.lastChild.dataset.value)])
        )"""
    )


def assert_same_numbers(page, result):
    shown = figures(page)
    expected = {**result, "utilisation": result["mean"]["real"] / result["capacity"]}
    assert {name: shown[name] for name in FIELDS} == {name: pytest.approx(expected[name]) for name in FIELDS}
    for part in ("reserved", "internal", "external", "usable"):
        assert shown[part] == pytest.approx(result["mean"][part] / result["capacity"]), part
    for time in TIMES:
        for spread, value in result[time].items():
            assert shown[f"{time}.{spread}"] == pytest.approx(value), (time, spread)


def test_a_dropped_file_gives_the_command_lines_numbers_for_every_allocator(page, tmp_path):
    trace = tmp_path / "small.csv"
    trace.write_bytes(SMALL)
    settings = {"bs": 8, "blocks": 40, "limit": 50, "stepms": 20}
    page.set_replay(**settings)
    page.drop("small.csv", SMALL)
    wait_for_result(page, 50)
    expect(page.locator("#replay-run-title")).to_contain_text("small.csv")
    paged = kvscope("replay", str(trace), **settings)["runs"][0]["result"]
    assert paged["mean_waiting"] > 0, "the pool is small enough to matter"
    assert_same_numbers(page, paged)

    page.locator("#replay-other").click()
    expect(columns(page)).to_have_count(3, timeout=BOOT_MS)
    contiguous = kvscope("replay", str(trace), mode="contiguous", res="max", **settings)["runs"][0]["result"]
    assert_same_numbers(page, contiguous)
    expect(page.locator("#replay-pool-figure canvas").first).to_be_attached()
    assert page.query("name") is None
    assert "small" not in page.page.url


def test_a_model_on_gpus_under_an_engines_rules_gives_the_command_lines_numbers(page, tmp_path):
    trace = tmp_path / "small.csv"
    trace.write_bytes(SMALL)
    page.set_replay(**DEPLOYED)
    page.drop("small.csv", SMALL)
    wait_for_result(page, 60)
    result = kvscope("replay", str(trace), **DEPLOYED)["runs"][0]["result"]
    assert 0 < result["attainment"] < 1, "the promise is one that some requests miss"
    assert_same_numbers(page, result)
    for key, value in DEPLOYED.items():
        page.wait_for_address(key, str(value))


def test_an_address_opens_a_load_with_its_settings_and_replays_it(simulator):
    asked = "load=long&limit=40&mode=contiguous&res=pow2&rules=chunked"
    page = simulator().open(f"?v=1&tab=replay&lang=en&{asked}")
    wait_for_result(page, 40)
    expect(columns(page).last).to_contain_text("Pow2")
    assert page.locator("#replay-form [name=rules]").input_value() == "chunked"
    page.wait_for_address("theme", "light")  # written by the page, no longer the words that were given
    assert (page.query("load"), page.query("res")) == ("long", "pow2")
    expect(page.locator("[data-load=long]")).to_have_attribute("aria-pressed", "true")


def test_what_an_address_cannot_have_is_told(simulator):
    page = simulator().open("?v=1&tab=replay&lang=en&load=nope&gpu=GTX&tp=-4")
    for word in ("nope", "GTX", "-4"):
        expect(page.locator("#notices")).to_contain_text(word)
    assert page.locator("#replay-form [name=tp]").input_value() == "1"
    expect(page.locator("#replay-result")).to_be_hidden()


def test_settings_that_do_not_go_together_are_told_and_the_form_follows(page):
    page.set_replay(limit=30, rules="vllm-v0", queue="shortest")
    page.locator("[data-load=chat]").click()
    wait_for_result(page, 30)
    expect(page.locator("#replay-notices")).to_contain_text("does not go with the others")
    assert page.locator("#replay-form [name=queue]").input_value() == "fcfs"


def test_a_model_that_does_not_fit_is_answered_with_what_would(page):
    page.set_replay(limit=20, model="Llama-3-70B")
    page.locator("[data-load=chat]").click()
    problem = page.locator("#panel-replay [data-problem]")
    expect(problem).to_contain_text("does not fit", timeout=BOOT_MS)
    problem.get_by_role("button", name="GPUs").first.click()
    wait_for_result(page, 20)
    assert int(page.locator("#replay-form [name=tp]").input_value()) > 1
    expect(problem).to_be_empty()


def test_three_settings_are_laid_over_each_other_and_one_can_be_removed(page):
    page.set_replay(limit=60, blocks=1200)
    page.locator("[data-load=long]").click()
    wait_for_result(page, 60)
    for count, changed in (
        (3, {"mode": "contiguous"}),
        (4, {"res": "oracle"}),
        (4, {"mode": "paged", "bs": 32}),
    ):
        page.set_replay(**changed)
        run(page)
        newest = "Oracle" if "res" in changed else "32" if "bs" in changed else "Max"
        expect(columns(page).last).to_contain_text(newest, timeout=BOOT_MS)
        expect(columns(page)).to_have_count(count)
    expect(page.locator("#replay-shown [aria-pressed]")).to_have_count(3)
    lines = page.locator("[data-chart=ttft] .legend li")
    expect(lines).to_have_count(3)
    assert len({line.locator("i").get_attribute("class") for line in lines.all()}) == 3, (
        "dashes tell them apart"
    )
    expect(page.locator("[data-chart=ttft] canvas").first).to_be_attached()
    names = columns(page).all_inner_texts()[1:]
    assert len(set(names)) == 3
    page.locator("#replay-shown .remove").first.click()
    expect(columns(page)).to_have_count(3)
    assert columns(page).all_inner_texts()[1].split(" · ")[0] == names[1].split(" · ")[0]
    expect(lines).to_have_count(2)


def test_what_is_shown_can_be_saved_as_csv_json_and_png(page, tmp_path):
    page.set_replay(limit=40)
    page.locator("[data-load=chat]").click()
    wait_for_result(page, 40)
    page.locator("#replay-other").click()
    expect(columns(page)).to_have_count(3, timeout=BOOT_MS)
    expect(page.locator("[data-chart=end_to_end] canvas").first).to_be_attached()
    saved = {}
    for kind in ("csv", "json", "png"):
        name, saved[kind] = page.saved(f"[data-replay-export={kind}]", tmp_path)
        assert name == f"kvscope-replay.{kind}"
    rows = list(csv.DictReader(StringIO(saved["csv"].decode())))
    runs = json.loads(saved["json"])["replays"]
    assert (
        [row["mode"] for row in rows]
        == [each["settings"]["mode"] for each in runs]
        == ["paged", "contiguous"]
    )
    assert [int(row["num_steps"]) for row in rows] == [each["result"]["num_steps"] for each in runs]
    assert saved["png"].startswith(b"\x89PNG")
    width, height = (int.from_bytes(saved["png"][at : at + 4]) for at in (16, 20))
    assert width > 1000 < height


def test_the_first_thousand_requests_of_a_real_trace_give_the_command_lines_numbers(page):
    trace = shared("traces/azure2023_conv.csv")
    page.locator("#replay-file").set_input_files(trace)
    wait_for_result(page, 1000)
    result = kvscope("replay", str(trace), limit=1000)["runs"][0]["result"]
    assert result["num_requests"] == 1000
    assert_same_numbers(page, result)
    expect(page.locator("#replay-notices")).to_contain_text("1,000")


def test_a_stopped_replay_shows_what_was_measured_and_can_be_started_again(page):
    page.set_replay(limit=20000)
    held = HeldAnswers(page, past=0.15)  # the first tenth is for reading
    page.locator("[data-load=long]").click()
    stop = page.locator("#replay-run [data-stop]")
    expect(said(page)).to_have_text(re.compile("Replaying: [1-9]"), timeout=BOOT_MS)
    page.locator("#language").click()  # the page answers meanwhile
    page.locator("#language").click()
    stop.click()
    expect(said(page)).to_have_text("Stopping …")
    held.release()
    expect(said(page)).to_contain_text("Stopped after")
    expect(stop).to_be_hidden()
    expect(page.locator("#replay-notices")).to_contain_text("of 20,000 requests")
    expect(columns(page).last).to_contain_text("(stopped)")
    assert 0 < figures(page)["num_finished"] < 20000
    page.set_replay(limit=20)
    run(page)
    wait_for_result(page, 20)
    assert figures(page)["num_requests"] == 20


def test_a_replay_stopped_before_it_began_keeps_nothing(page):
    rows = b"prompt,output\n" + b"7,3\n" * 400_000
    page.set_replay(limit=400_000)
    held = HeldAnswers(page, past=0)
    page.locator("#replay-file").set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": rows})
    expect(said(page)).to_contain_text("Reading", timeout=BOOT_MS)
    page.locator("#replay-run [data-stop]").click()
    held.release()
    expect(said(page)).to_have_text("Stopped.")
    expect(page.locator("#replay-result")).to_be_hidden()


def test_the_file_goes_nowhere(page):
    asked = len(page.asked)
    page.drop("small.csv", SMALL)
    wait_for_result(page, 60)
    assert [url for url in page.asked[asked:] if not url.startswith(page.address)] == []
    kept = page.page.evaluate("() => [localStorage.length, sessionStorage.length, document.cookie]")
    assert kept == [0, 0, ""]
