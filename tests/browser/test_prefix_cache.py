"""A prefix cache on the page: its tree beside the pool, cached blocks, and settings that go together."""

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import kvscope

STEP = 40
RADIX = {"mode": "paged", "sc": "shared_prompts", "cache": "radix"}
CHAIN = {**RADIX, "cache": "hash_chain", "rules": "vllm-v1"}


def address(settings, **more):
    return "?" + "&".join(f"{key}={value}" for key, value in {"lang": "en", **settings, **more}.items())


@pytest.fixture(scope="module")
def recording():
    return kvscope("run", **RADIX)["recording"]


def tree_of(recording, step):
    """Node → (parent, blocks, users, frame of its last use), as the command line prints them."""
    trees, nodes = recording["trees"], recording["nodes"]
    version = recording["frames"]["tree"][step]
    return {
        nodes["id"][at]: (nodes["parent"][at], nodes["blocks"][at], trees["users"][i], trees["used"][i])
        for i in range(trees["start"][version], trees["start"][version + 1])
        for at in [trees["node"][i]]
    }


def users_of(recording, step, block):
    """Names of the sequences whose table holds a block."""
    rows, starts, size = recording["rows"], recording["frames"]["row_start"], recording["block_size"]
    return [
        recording["seqs"]["name"][rows["seq"][i]]
        for i in range(starts[step], starts[step + 1])
        if block in recording["tables"][rows["table"][i]][: rows["held"][i] // size]
    ]


@pytest.fixture
def page(simulator):
    page = simulator().open(address(RADIX, t=STEP))
    expect(page.locator("#prefix-labels span").first).to_be_attached()
    expect(page.locator("#headline")).to_contain_text("instead of")  # the other run is there too
    return page


def test_the_headline_compares_what_has_finished_since_fewer_run_when_each_is_done_sooner(page, recording):
    other = kvscope("run", **{**RADIX, "mode": "contiguous"})["recording"]
    finished, then = (each["frames"]["finished"][STEP] for each in (recording, other))
    assert finished > then
    expect(page.locator("#headline")).to_contain_text(f"{finished} finished instead of {then};")


def test_the_table_of_prefixes_is_the_tree_of_the_command_line(page, recording):
    page.locator("#prefix-twin summary").click()
    rows = page.locator("#prefix-table tbody tr")
    tree = tree_of(recording, STEP)
    expect(rows).to_have_count(len(tree))
    said = rows.evaluate_all("all => all.map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")
    for (id, (parent, blocks, users, used)), cells in zip(tree.items(), said, strict=True):
        names = users_of(recording, STEP, blocks[0])
        assert cells[0] == f"n{id}"
        assert cells[1] == (f"n{parent}" if parent else "the beginning")
        assert cells[3] == " ".join(map(str, blocks))
        assert cells[4] == (" ".join(names) if users else "nobody")
        assert len(names) == users
        assert cells[5] == ("in use" if users else f"step {used}")


def test_every_node_has_a_bar_with_its_name_at_every_step(page, recording):
    for step in (STEP, STEP + 1, STEP + 2, 90, 3):
        page.seek(step)
        labels = page.locator("#prefix-labels span")
        expect(labels).to_have_count(len(tree_of(recording, step)))
    page.seek(0)
    expect(page.locator("#prefix-labels span")).to_have_count(0)
    expect(page.locator("#prefix-words")).to_contain_text("Nothing is cached yet")


def test_a_node_in_focus_lights_its_blocks_its_users_and_its_lines(page, recording):
    tree = tree_of(recording, STEP)
    id, (_, blocks, _, _) = max(tree.items(), key=lambda item: len(item[1][1]) if item[1][2] > 1 else 0)
    page.locator("#prefix-twin summary").click()
    page.locator(f"#prefix-table [data-focus=n{id}]").click()
    page.wait_for_address("focus", f"n{id}")
    names = users_of(recording, STEP, blocks[0])
    expect(page.locator("#block-tables tr.lit .chip")).to_have_text(names)
    opacities = page.locator("#pool-figure .pool-labels b").evaluate_all(
        "all => all.map((name) => [name.textContent, name.style.opacity])"
    )
    lit = [block for block, (name, opacity) in enumerate(opacities) if name and opacity == "1"]
    assert lit == sorted(blocks)
    not_dim = page.locator("#prefix-labels span:not(.dim)")
    expect(not_dim).to_have_count(1)
    kinds = page.locator("#log li.lit").evaluate_all("all => all.map((line) => line.dataset.nodes ?? '')")
    assert kinds
    button = page.locator(f"#prefix-table [data-focus=n{id}]")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(button).to_be_focused()
    page.locator("h1").hover()
    page.page.keyboard.press("Escape")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#prefix-labels .dim")).to_have_count(0)


def test_pointing_at_a_bar_previews_it_and_a_click_pins_it(page):
    label = page.locator("#prefix-labels .in-use").first
    box = label.bounding_box()
    label.scroll_into_view_if_needed()
    box = label.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.page.mouse.move(x, y)
    expect(page.locator("#prefix-tip")).to_contain_text("Used by")
    expect(page.locator("#block-tables tr.lit").first).to_be_attached()
    page.page.mouse.click(x, y)
    page.page.mouse.move(5, 5)
    expect(page.locator("#prefix-tip")).to_be_hidden()
    page.page.wait_for_url(lambda url: "focus=n" in url)


def test_a_cached_block_is_a_state_of_its_own_in_table_and_tip(page, recording):
    starts = recording["frames"]["cached_start"]
    cached = recording["cached"]["block"][starts[STEP] : starts[STEP + 1]]
    owners = {block: id for id, (_, blocks, _, _) in tree_of(recording, STEP).items() for block in blocks}
    page.locator("#twin-fold summary").click()
    rows = page.locator("#pool-table tbody tr")
    expect(rows).to_have_count(64)
    said = rows.evaluate_all("all => all.map((row) => row.cells[1].textContent)")
    assert cached
    for block, words in enumerate(said):
        assert (words == f"cached (n{owners.get(block)})") == (block in cached), block
    glass = page.locator("#pool-glass")
    box = glass.bounding_box()
    block = cached[0]
    row, column = divmod(block, 16)
    glass.hover(position={"x": box["width"] * (column + 0.5) / 16, "y": box["height"] * (row + 0.5) / 4})
    tip = page.locator("#pool-tip")
    expect(tip).to_contain_text(f"Block {block}: cached, used by nobody")
    expect(tip).to_contain_text("Last held by r")


def test_a_link_with_a_cache_and_a_node_opens_the_same(page, recording, simulator):
    id = next(iter(tree_of(recording, STEP)))
    page.locator("#prefix-twin summary").click()
    page.locator(f"#prefix-table [data-focus=n{id}]").click()
    page.wait_for_address("focus", f"n{id}")
    again = simulator().open(page.page.url.removeprefix(page.address))
    expect(again.locator("#prefix-labels .dim").first).to_be_attached()
    again.wait_for(again.counters, page.counters())
    again.wait_for(again.query, page.query())


def test_chains_of_block_hashes_are_drawn_alike(simulator):
    recording = kvscope("run", **CHAIN)["recording"]
    page = simulator().open(address(CHAIN, t=STEP))
    expect(page.locator("#prefix-title")).to_have_text("Chains of block hashes")
    expect(page.locator("#prefix-labels span")).to_have_count(len(tree_of(recording, STEP)))


def test_choices_that_do_not_go_together_give_way_in_the_form(simulator):
    page = simulator().open(address(RADIX, queue="lpm"))
    form = page.locator("#settings")
    form.locator("[name=rules]").select_option("vllm-v1")
    expect(form.locator("[name=cache]")).to_have_value("hash_chain")
    expect(form.locator("[name=queue]")).to_have_value("fcfs")
    expect(form.locator("[name=cache] option[value=radix]")).to_be_disabled()
    page.wait_for_address("cache", "hash_chain")
    expect(page.locator("#notices")).to_be_empty()
    page.set(cache="none")
    expect(page.locator("#prefix-card")).to_be_hidden()
    expect(page.locator("[data-cached-blocks]")).to_be_hidden()


def test_an_address_that_cannot_be_had_is_corrected_and_told(simulator):
    page = simulator().open(address(RADIX, rules="vllm-v1"))
    page.wait_for_address("cache", "hash_chain")
    expect(page.locator("#notices")).to_contain_text("“radix”")
    page = simulator().open(address(RADIX, mode="contiguous"))
    expect(page.locator("#notices")).to_contain_text("cache=radix")
    page.locator("#switch-mode").click()
    expect(page.locator("#prefix-card")).to_be_visible()


def test_nothing_moves_where_motion_is_unwanted(simulator):
    page = simulator(reduced_motion="reduce").open(address(RADIX, t=STEP))
    expect(page.locator("#prefix-labels span").first).to_be_attached()
    page.locator("#step").click()
    expect(page.locator("#prefix-labels")).not_to_have_class("prefix-labels moving")


def test_the_tree_folds_on_a_phone_and_fits_it(simulator):
    page = simulator(viewport={"width": 390, "height": 844}).open(address(RADIX, t=STEP))
    card = page.locator("#prefix-card")
    expect(card).to_be_visible()
    assert not card.evaluate("card => card.open")
    card.locator("> summary").click()
    expect(page.locator("#prefix-labels span").first).to_be_attached()
    page.expect_no_sideways_scroll()
