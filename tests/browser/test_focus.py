"""One focus: a request or block that is pointed at, clicked or tabbed to is lit everywhere at once."""

from collections import Counter

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import kvscope

STEP = 20
BLOCKS = 64  # 16 columns of them on a wide screen, 8 on a phone


@pytest.fixture
def page(open_without_python):
    return open_without_python(f"?mode=paged&t={STEP}&lang=en")


@pytest.fixture(scope="module")
def tables():
    """Request → its blocks at STEP, as the command line prints them."""
    recording = kvscope("run", mode="paged")["recording"]
    rows, starts = recording["rows"], recording["frames"]["row_start"]
    return {
        rows["seq"][i]: recording["tables"][rows["table"][i]][: rows["held"][i] // recording["block_size"]]
        for i in range(starts[STEP], starts[STEP + 1])
    }


def lit_cells(page):
    """Requests whose name in the pool is not dimmed, and how many blocks of theirs are lit."""
    names = page.locator("#pool-figure .pool-labels b").evaluate_all(
        """all => all.filter((name) => name.textContent && name.style.opacity === "1")
            .map((name) => name.textContent)"""
    )
    return {int(name[1:]): count for name, count in Counter(names).items()}


def assert_lit(page, seq, tables):
    row = page.locator(f"#block-tables tr[data-seq='{seq}']")
    expect(row).to_have_class("lit")
    expect(page.locator("#block-tables tr.lit")).to_have_count(1)
    expect(page.locator("#block-tables tr.dim")).to_have_count(len(tables) - 1)
    page.wait_for(lambda: lit_cells(page), {seq: len(tables[seq])})
    lines = page.locator("#log [data-seq].lit")
    expect(lines.first).to_be_attached()
    page.wait_for(
        lambda: set(lines.evaluate_all("all => all.map((line) => Number(line.dataset.seq))")), {seq}
    )


def assert_nothing_lit(page, tables):
    expect(page.locator("#block-tables .lit, #block-tables .dim, #log .lit")).to_have_count(0)
    page.wait_for(lambda: lit_cells(page), {seq: len(blocks) for seq, blocks in tables.items()})


def place(page, block, columns):
    """Middle of a block in the pool, in px from the pool's corner."""
    box = page.locator("#pool-glass").bounding_box()
    row, column = divmod(block, columns)
    return {
        "x": box["width"] * (column + 0.5) / columns,
        "y": box["height"] * (row + 0.5) / (BLOCKS // columns),
    }


def test_hovering_a_row_lights_its_blocks_and_lines_and_leaving_lets_go(page, tables):
    seq = min(tables)
    page.locator(f"#block-tables tr[data-seq='{seq}'] [data-focus=r{seq}]").hover()
    assert_lit(page, seq, tables)
    page.locator("h1").hover()
    assert_nothing_lit(page, tables)
    assert page.query("focus") is None


def test_a_click_pins_and_stays_while_the_pointer_wanders_and_escape_lets_go(page, tables):
    seq = max(tables)
    page.locator(f"#block-tables tr[data-seq='{seq}'] button").click()
    page.locator("h1").hover()
    assert_lit(page, seq, tables)
    page.wait_for_address("focus", f"r{seq}")
    pressed = page.locator(f"#block-tables tr[data-seq='{seq}'] button")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    page.page.keyboard.press("Escape")
    assert_nothing_lit(page, tables)
    expect(pressed).to_have_attribute("aria-pressed", "false")


def test_pointing_at_a_block_in_the_pool_lights_its_owner_and_names_it(page, tables):
    seq, blocks = next(iter(tables.items()))
    page.locator("#pool-glass").hover(position=place(page, blocks[0], 16))
    assert_lit(page, seq, tables)
    tip = page.locator("#pool-tip")
    expect(tip).to_contain_text(f"Block {blocks[0]}: r{seq}")
    expect(page.locator("#block-tables .places .lit")).to_have_text(str(blocks[0]))
    page.page.mouse.move(5, 5)
    expect(tip).to_be_hidden()
    assert_nothing_lit(page, tables)


def test_a_click_on_a_block_pins_it_and_a_second_click_lets_go(page, tables):
    seq, blocks = list(tables.items())[1]
    glass = page.locator("#pool-glass")
    glass.click(position=place(page, blocks[-1], 16))
    page.page.mouse.move(5, 5)
    assert_lit(page, seq, tables)
    page.wait_for_address("focus", f"b{blocks[-1]}")
    glass.click(position=place(page, blocks[-1], 16))
    page.page.mouse.move(5, 5)
    assert_nothing_lit(page, tables)


def test_enter_on_a_row_pins_it_without_a_mouse(page, tables):
    seq = min(tables)
    page.locator(f"#block-tables tr[data-seq='{seq}'] button").focus()
    page.page.keyboard.press("Enter")
    assert_lit(page, seq, tables)


def test_the_pool_as_a_table_says_the_same_as_the_picture(page, tables):
    page.locator("#twin-fold summary").click()
    rows = page.locator("#pool-table tbody tr")
    expect(rows).to_have_count(64)
    owners = {block: f"r{seq}" for seq, blocks in tables.items() for block in blocks}
    said = rows.evaluate_all("all => all.map((row) => row.cells[1].textContent)")
    assert said == [owners.get(block, "free") for block in range(64)]


def test_a_tap_pins_on_a_phone(open_without_python, tables):
    page = open_without_python(
        f"?mode=paged&t={STEP}&lang=en",
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
    )
    seq, blocks = next(iter(tables.items()))
    page.locator("#pool-glass").tap(position=place(page, blocks[0], 8))
    page.wait_for_address("focus", f"b{blocks[0]}")
    page.wait_for(lambda: lit_cells(page), {seq: len(tables[seq])})
