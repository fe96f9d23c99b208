"""Requests with several sequences: shared blocks and their holders, and the tree of beams beside the pool."""

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import kvscope

BEAM = {"mode": "paged", "sc": "beam", "seed": 5}
STEP = 20


@pytest.fixture(scope="module")
def recording():
    return kvscope("run", **BEAM)["recording"]


@pytest.fixture
def page(simulator, recording):
    query = "&".join(f"{key}={value}" for key, value in BEAM.items())
    page = simulator().open(f"?{query}&t={STEP}&lang=en")
    expect(page.locator("#beam-card")).to_be_visible()
    page.locator("#twin-fold summary").click()
    return page


def holders(recording, step):
    """Block → names of the sequences that hold it, at a step of a recording that the command line printed."""
    rows, starts = recording["rows"], recording["frames"]["row_start"]
    found = {}
    for i in range(starts[step], starts[step + 1]):
        table = recording["tables"][rows["table"][i]][: rows["held"][i] // recording["block_size"]]
        for block in table:
            found.setdefault(block, []).append(recording["seqs"]["name"][rows["seq"][i]])
    return found


def test_the_table_of_the_pool_names_everyone_who_holds_a_shared_block(page, recording):
    held = holders(recording, STEP)
    assert max(map(len, held.values())) > 1
    rows = page.locator("#pool-table tbody tr")
    expect(rows).to_have_count(64)
    said = rows.evaluate_all("all => all.map((row) => row.cells[1].textContent)")
    for block, words in enumerate(said):
        names = held.get(block, ["free"])
        assert words == " ".join(names) + (f" ×{len(names)}" if len(names) > 1 else ""), block


def test_the_counter_tells_what_sharing_saves(page, recording):
    for step in (STEP, 31, 2):
        page.seek(step)
        held = holders(recording, step)
        saved = sum(map(len, held.values())) - len(held)
        expect(page.locator("[data-shared] dd")).to_have_text(f"{saved} saved")
        most = max(map(len, held.values()))
        expect(page.locator("[data-shared] dt")).to_have_text(f"Shared ×{most}")


def test_a_shared_block_in_focus_lights_all_who_hold_it(page, recording):
    block, names = max(holders(recording, STEP).items(), key=lambda item: len(item[1]))
    page.locator(f"#pool-table [data-focus=b{block}]").click()
    lit = page.locator("#block-tables tr.lit .chip")
    page.wait_for(lambda: sorted(lit.all_inner_texts()), sorted(names))


def test_beams_of_the_tree_are_those_in_the_block_tables(page, recording):
    title = page.locator("#beam-title")
    expect(title).to_contain_text("Beams of ")
    request = title.inner_text().removeprefix("Beams of ")
    names = [name for each in holders(recording, STEP).values() for name in each]
    own = sorted({name for name in names if name.split(".")[0] == request})
    assert len(own) > 1
    page.wait_for(lambda: sorted(page.locator("#beam-words li .chip").all_inner_texts()), own)


def test_a_run_without_groups_shows_neither_tree_nor_counter(simulator):
    page = simulator().open("?mode=paged&lang=en")
    expect(page.locator("#beam-card")).to_be_hidden()
    expect(page.locator("[data-shared]")).to_be_hidden()
    expect(page.locator("[data-mark=copy]")).to_be_hidden()
