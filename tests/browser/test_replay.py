"""The Replay tab: a dropped trace gives the command line's numbers, can be stopped, and goes nowhere."""

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, kvscope
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


@pytest.fixture
def page(simulator):
    return simulator().open("?tab=replay&lang=en")


def wait_for_result(page, requests):
    expect(page.locator("#replay-run [data-said]")).to_contain_text(
        f"{requests:,} request" if requests >= 1000 else f"{requests} request", timeout=BOOT_MS
    )


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
    for time in ("queueing", "ttft", "end_to_end"):
        for spread, value in result[time].items():
            assert shown[f"{time}.{spread}"] == pytest.approx(value), (time, spread)


def test_a_dropped_file_gives_the_command_lines_numbers_for_every_allocator(page, tmp_path):
    trace = tmp_path / "small.csv"
    trace.write_bytes(SMALL)
    settings = {"bs": 8, "blocks": 40, "limit": 50, "stepms": 20}
    for key, value in settings.items():
        page.locator(f"#replay-form [name={key}]").fill(str(value))
    page.drop("small.csv", SMALL)
    wait_for_result(page, 50)
    expect(page.locator("#replay-run-title")).to_contain_text("small.csv")
    paged = kvscope("replay", str(trace), **settings)["runs"][0]["result"]
    assert paged["mean_waiting"] > 0, "the pool is small enough to matter"
    assert_same_numbers(page, paged)

    page.locator("#replay-other").click()
    expect(page.locator("#replay-table thead th")).to_have_count(3, timeout=BOOT_MS)
    contiguous = kvscope("replay", str(trace), mode="contiguous", res="max", **settings)["runs"][0]["result"]
    assert_same_numbers(page, contiguous)
    expect(page.locator("#replay-pool-figure canvas").first).to_be_attached()
    assert page.query("name") is None
    assert "small" not in page.page.url


def test_the_first_thousand_requests_of_a_real_trace_give_the_command_lines_numbers(page):
    trace = shared("traces/azure2023_conv.csv")
    page.locator("#replay-file").set_input_files(trace)
    wait_for_result(page, 1000)
    result = kvscope("replay", str(trace), limit=1000)["runs"][0]["result"]
    assert result["num_requests"] == 1000
    assert_same_numbers(page, result)
    expect(page.locator("#replay-notices")).to_contain_text("1,000")


def test_a_replay_can_be_stopped_and_started_again(page):
    rows = b"prompt,output\n" + b"".join(b"%d,%d\n" % (100 + i % 50, 200 + i % 300) for i in range(1500))
    page.locator("#replay-form [name=limit]").fill("1500")
    page.drop("long.csv", rows)
    stop = page.locator("#replay-run [data-stop]")
    expect(page.locator("#replay-run [data-said]")).to_contain_text("Replaying", timeout=BOOT_MS)
    stop.click()
    expect(page.locator("#replay-run [data-said]")).to_have_text("Stopped.")
    expect(stop).to_be_hidden()
    expect(page.locator("#replay-result")).to_be_hidden()
    page.locator("#replay-form [name=limit]").fill("20")
    page.locator("#replay-run [data-run]").click()
    wait_for_result(page, 20)
    assert figures(page)["num_requests"] == 20


def test_the_file_goes_nowhere(page):
    asked = len(page.asked)
    page.drop("small.csv", SMALL)
    wait_for_result(page, 60)
    assert [url for url in page.asked[asked:] if not url.startswith(page.address)] == []
    kept = page.page.evaluate("() => [localStorage.length, sessionStorage.length, document.cookie]")
    assert kept == [0, 0, ""]
