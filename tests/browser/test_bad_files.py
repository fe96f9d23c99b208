"""Files that are no good trace: one sentence with place, value and what was expected; text stays text."""

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, Simulator

HOSTILE = "<img src=x onerror=window.harm=1>"
REFUSED = {
    "empty.csv": (b"", "The file is empty."),
    "picture.csv": (bytes(range(256)) * 8, "not text in UTF-8"),
    "columns.csv": (b"a,b\n1,2\n", "no column with prompt lengths"),
    "half.csv": (b"prompt,size\n1,2\n", "no column with output lengths"),
    "header.csv": (b"prompt,output\n", "no rows"),
    "words.csv": (b"prompt,output\n10,5\nten,5\n", "“ten”"),
    "negative.csv": (b"prompt,output\n10,-5\n", "“-5”"),
    "nan.csv": (b"prompt,output\nNaN,5\n", "“NaN”"),
    "huge.csv": (b"prompt,output\n1e400,5\n" + b"9" * 400 + b",1\n", "Line 2"),
    "hostile.csv": (b"prompt,output\n5,5\n" + HOSTILE.encode() + b",5\n", "<img src=x"),
}
TAKEN = {
    "mark.csv": (b"\xef\xbb\xbfprompt,output\n10,5\n11,6\n", 2),
    "ends.csv": (b"prompt,output\r\n10,5\n11,6\r\n12,7", 3),
    "lines.jsonl": (b'{"prompt": 10, "output": 5}\n{"prompt": 3, "output": 2}\n', 2),
    "unsorted.csv": (b"arrival_s,prompt,output\n5,10,5\n1,11,6\n", 2),
    f"{HOSTILE}.csv": (b"prompt,output\n10,5\n", 1),
}


@pytest.fixture(scope="module")
def page(browser, address):
    """One page for all files, dropped one after the other: none of them may spoil it for the next."""
    with browser.new_context(viewport={"width": 1440, "height": 900}, service_workers="block") as context:
        yield Simulator(context, address).open("?tab=replay&lang=en")


@pytest.fixture(autouse=True)
def unharmed(page):
    yield
    assert page.page.evaluate("window.harm") is None
    assert page.locator("#panel-replay img, #panel-replay script").count() == 0
    assert page.complaints == []
    assert page.outside == []


def problem(page):
    return page.locator("#panel-replay [data-problem] p")


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_file_is_refused_with_one_sentence_that_names_it(page, name):
    content, said = REFUSED[name]
    page.drop(name, content)
    expect(problem(page)).to_contain_text(said, timeout=BOOT_MS)
    expect(problem(page)).to_contain_text(name)
    expect(page.locator("#replay-result")).to_be_hidden()
    page.locator("#language").click()
    expect(problem(page)).not_to_contain_text("cannot be replayed")
    page.locator("#language").click()


@pytest.mark.parametrize("name", TAKEN)
def test_an_odd_but_readable_file_is_replayed(page, name):
    content, requests = TAKEN[name]
    page.drop(name, content)
    expect(page.locator("#replay-run-title")).to_contain_text(name)
    expect(page.locator("#replay-result")).to_be_visible(timeout=BOOT_MS)
    row = page.locator("#replay-table [data-field=num_finished] td").last
    expect(row).to_have_attribute("data-value", str(requests))
    expect(problem(page)).to_have_count(0)


def test_the_good_rows_of_a_bad_file_can_be_kept(page):
    page.drop("mixed.csv", b"prompt,output\n10,5\nten,5\n12,7\n13,<b>8</b>\n14,9\n")
    expect(problem(page)).to_contain_text("Line 3", timeout=BOOT_MS)
    page.locator("#panel-replay [data-problem] button").click()
    row = page.locator("#replay-table [data-field=num_finished] td").last
    expect(row).to_have_attribute("data-value", "3", timeout=BOOT_MS)
    expect(page.locator("#replay-notices")).to_contain_text("2 of 5 rows are bad")
    expect(page.locator("#replay-notices")).to_contain_text("<b>8</b>")


def test_a_prompt_larger_than_the_pool_is_counted_as_turned_away(page):
    page.set_replay(blocks=4)
    page.drop("large.csv", b"prompt,output\n500,5\n10,5\n")
    cell = page.locator("#replay-table [data-field=num_rejected] td").last
    expect(cell).to_have_attribute("data-value", "1", timeout=BOOT_MS)
