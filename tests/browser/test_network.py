"""From any static host and any path, with nothing asked of anybody else, and again with the network cut."""

import threading

from playwright.sync_api import expect

from app.site.server import SiteServer
from tests.browser.simulator import Simulator, kvscope


def test_nothing_outside_the_site_is_asked_for_on_any_tab(simulator):
    page = simulator().open("?lang=en")
    for tab in ("experiments", "replay", "simulate"):
        page.locator(f"#tab-{tab}").click()
        expect(page.locator(f"#panel-{tab}")).to_be_visible()
    page.page.wait_for_load_state("networkidle")
    assert any("pyodide.asm.wasm" in url for url in page.asked)
    assert page.outside == []
    assert page.complaints == []
    assert "/below/a-path/" in page.address


def test_the_second_visit_needs_no_network(new_context, site):
    root = site.parents[1]
    with SiteServer(root, 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        address = f"{server.address}{site.relative_to(root).as_posix()}/"
        context = new_context(service_workers="allow")
        first = Simulator(context, address).open("?lang=en")
        first.page.evaluate("async () => { await navigator.serviceWorker.ready; }")
        first.page.close()
        server.shutdown()
    page = Simulator(context, address).open("?lang=en&mode=paged&seed=8&t=30")
    page.wait_for_address("seed", "8")
    page.seek(30)
    page.expect_numbers(kvscope("run", mode="paged", seed=8)["recording"], 30)
    page.locator("#tab-experiments").click()
    expect(page.locator("#experiment-result [data-claim]").first).to_be_visible()
    assert page.complaints == []
