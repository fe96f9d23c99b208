"""`panel serve app/main.py`: the same page, answered by Python in another process over the websocket."""

import os
import re
import subprocess
import sys
import time
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, ROOT, Simulator, kvscope


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory):
    """Address of a running server."""
    log = tmp_path_factory.mktemp("panel") / "log.txt"
    line = [
        sys.executable,
        "-m",
        "panel",
        "serve",
        "app/main.py",
        "--address",
        "127.0.0.1",
        "--port",
        "0",  # any that is free; the log names it
    ]
    environment = {**os.environ, "BOKEH_RESOURCES": "server"}
    with log.open("w") as output:
        process = subprocess.Popen(line, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + 90
        while not (named := re.search(r"http://127\.0\.0\.1:[1-9]\d+/", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        urllib.request.urlopen(f"{named[0]}main", timeout=90).close()  # its first page takes longest
        yield named[0]
    finally:
        process.terminate()
        process.wait(60)


def test_it_is_the_same_page_with_the_same_numbers_and_answers_changed_settings(served, new_context):
    page = Simulator(new_context(), served).open("main?lang=en&mode=paged")
    for settings in ({}, {"bs": 8, "seed": 12}, {"mode": "contiguous", "res": "pow2"}):
        page.set(**settings)
        for key, value in settings.items():
            page.wait_for_address(key, str(value))
        if settings.get("mode"):
            settings = {"bs": 8, "seed": 12, **settings}
        recording = kvscope("run", **{"mode": "paged", **settings})["recording"]
        for step in (0, 30, 90):
            page.seek(step)
            page.expect_numbers(recording, step)
    assert page.complaints == []
    assert page.outside == []


def test_a_file_is_replayed_and_an_experiment_run_over_the_websocket(served, new_context):
    page = Simulator(new_context(), served).open("main?tab=replay&lang=en")
    page.drop("a.csv", b"prompt,output\n10,5\n11,6\n")
    cell = page.locator("#replay-table [data-field=num_finished] td").last
    expect(cell).to_have_attribute("data-value", "2", timeout=BOOT_MS)
    page.locator("#tab-experiments").click()
    expect(page.locator("[data-experiment][aria-current=true]")).to_have_count(1)
    page.locator("#experiment-run [data-run]").click()
    expect(page.locator("#experiment-run [data-said]")).to_have_text(
        "Measured by Python just now.", timeout=BOOT_MS
    )
    expect(page.locator("#experiment-result [data-claim]").nth(1)).to_be_attached()
    assert page.complaints == []


def test_both_ways_in_carry_the_same_text(served, site):
    over_server = urllib.request.urlopen(f"{served}main").read().decode()
    from_file = (site / "index.html").read_text(encoding="utf-8")

    def keys(html):
        return set(re.findall(r'data-(?:text|label)="([^"]+)"', html))

    assert keys(over_server) == keys(from_file)
    assert len(keys(from_file)) > 50
