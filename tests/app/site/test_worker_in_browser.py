"""The small site in Chromium: Python answers, files travel, and the second visit needs no network."""

import json
import re
import shutil
import time

import pytest
from playwright.sync_api import expect

from app.site.server import SiteHandler

BOOT_MS = 60_000


@pytest.fixture
def context(browser):
    with browser.new_context() as fresh:
        yield fresh


def open_page(context, address):
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda said: page.complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(address)
    return page


def said(page, kind):
    line = page.locator(f'p[data-type="{kind}"]').first
    line.wait_for(timeout=BOOT_MS)
    return json.loads(line.text_content())


def ask(page, number, request, bytes_=None):
    page.locator("#message").fill(json.dumps({"id": number, "request": request, "bytes": bytes_}))
    page.locator("button").click()
    return said(page, f"answer-{number}")


def until(condition, pause_s=0.2, patience_s=120):
    """Whether `condition()` came true in time."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        time.sleep(pause_s)
        if condition():
            return True
    return False


def copy_of(site, folder):
    shutil.copytree(site.folder, folder)
    return folder


def test_python_answers_from_its_worker_under_the_policy(context, small_site, serve):
    outside = []
    address = serve(small_site.folder)
    context.on(
        "request", lambda request: None if request.url.startswith(address) else outside.append(request.url)
    )
    page = open_page(context, address)
    first = ask(page, 1, {"kind": "sent before ready"})
    assert first["response"] == {"kind": "sent before ready", "data": None, "python": [3, 14]}
    assert ask(page, 2, {"kind": "text", "data": "né"})["response"]["data"] == ["str", 2]
    assert ask(page, 3, {"kind": "bytes"}, [0, 255, 10])["response"]["data"] == ["bytes", 3]
    assert page.complaints == []
    assert outside == []
    kinds = page.locator("p").evaluate_all("lines => lines.map((line) => line.dataset.type)")
    assert "progress" not in kinds[kinds.index("ready") :]
    stages = [json.loads(text) for text in page.locator('p[data-type="progress"]').all_text_contents()]
    assert {"interpreter", "core"} == {stage["stage"] for stage in stages if stage["done"] == stage["total"]}


def test_the_rest_of_the_library_is_fetched_when_an_import_asks_for_it(context, small_site, serve):
    fetched = []
    context.on("request", lambda request: fetched.append(request.url))
    context.route(re.compile(r"sw\.js"), lambda route: route.abort())
    page = open_page(context, serve(small_site.folder))
    said(page, "ready")
    rest = small_site.urls["python/rest.zip"]
    assert not any(rest in url for url in fetched)
    assert ask(page, 1, {"kind": "import"})["response"]["file"] == "/lib/rest_of_library.zip/wave.pyc"
    assert sum(rest in url for url in fetched) == 1


def test_a_part_of_the_core_that_no_simulation_takes_is_fetched_when_it_is_imported(
    context, small_site, serve
):
    fetched = []
    context.on("request", lambda request: fetched.append(request.url))
    context.route(re.compile(r"sw\.js"), lambda route: route.abort())
    page = open_page(context, serve(small_site.folder))
    said(page, "ready")
    core, rest = (small_site.urls[name] for name in ("python/core.zip", "python/rest.zip"))
    assert not any(core in url for url in fetched)
    assert ask(page, 1, {"kind": "late"})["response"] == {"value": 7}
    assert [sum(name in url for url in fetched) for name in (core, rest)] == [1, 0]


def test_an_archive_that_cannot_be_fetched_is_named_and_python_goes_on(context, small_site, serve, tmp_path):
    folder = copy_of(small_site, tmp_path / "site")
    (folder / small_site.urls["python/core.zip"]).unlink()
    page = open_page(context, serve(folder))
    assert "core" in ask(page, 1, {"kind": "late"})["failed"]
    assert ask(page, 2, {"kind": "again"})["response"]["kind"] == "again"


def test_a_request_on_which_the_core_raises_is_answered_with_the_reason_and_the_next_still_works(
    context, small_site, serve
):
    page = open_page(context, serve(small_site.folder))
    answer = ask(page, 1, {"kind": "raise"})
    assert answer == {"id": 1, "response": None, "failed": "ValueError: on purpose"}
    assert ask(page, 2, {"kind": "again"})["response"]["kind"] == "again"


@pytest.mark.parametrize(
    "missing",
    ["python/image.bin", "python/interpreter.json", "pyodide/pyodide.asm.wasm", "pyodide/pyodide.asm.mjs"],
)
def test_a_file_that_cannot_be_fetched_ends_the_boot_with_a_message(
    context, small_site, serve, tmp_path, missing
):
    folder = copy_of(small_site, tmp_path / "site")
    (folder / small_site.urls[missing]).unlink()
    page = open_page(context, serve(folder))
    assert said(page, "failed")["message"]
    expect(page.locator('p[data-type="ready"]')).to_have_count(0)


def test_a_host_that_names_no_type_for_webassembly_is_good_enough(context, small_site, serve):
    class Careless(SiteHandler):
        extensions_map = SiteHandler.extensions_map | {
            ".wasm": "application/octet-stream",
            ".zip": "text/plain",
        }

        def __init__(self, *args):
            super().__init__(*args, directory=str(small_site.folder))

    page = open_page(context, serve(small_site.folder, Careless))
    assert ask(page, 1, {"kind": "hello"})["response"]["kind"] == "hello"


def test_the_second_visit_works_below_a_sub_path_with_the_server_gone(context, small_site, serve, tmp_path):
    copy_of(small_site, tmp_path / "some" / "where")
    address = serve(tmp_path) + "some/where/"
    page = open_page(context, address)
    expect(page.locator("body[data-offline=ready]")).to_have_count(1, timeout=BOOT_MS)
    page.close()
    serve.stop()
    page = open_page(context, f"{address}?bs=8")
    assert ask(page, 1, {"kind": "import"})["response"]["name"] == "wave"


def test_a_new_release_is_seen_at_once_and_the_old_cache_goes(context, small_site, serve, tmp_path):
    folder = copy_of(small_site, tmp_path / "site")
    address = serve(folder)
    page = open_page(context, address)
    expect(page.locator("body[data-offline=ready]")).to_have_count(1, timeout=BOOT_MS)
    page.close()
    (folder / "index.html").write_text(
        (folder / "index.html").read_text().replace("<title>small", "<title>new")
    )
    worker = (folder / "sw.js").read_text()
    (folder / "sw.js").write_text(re.sub(r'"version": "\w+"', '"version": "new"', worker))
    page = open_page(context, address)
    expect(page).to_have_title("new")
    waiting = "async () => Boolean((await navigator.serviceWorker.getRegistration())?.waiting)"
    assert until(lambda: page.evaluate(waiting)), "the new release's worker is installed and waits"
    page.close()

    # It takes over at a moment when no page holds the old one any longer.
    def only_the_new_is_kept():
        with_new = open_page(context, address)
        kept = with_new.evaluate("async () => await caches.keys()")
        with_new.close()
        return [name.rpartition(" ")[2] for name in kept] == ["new"]

    assert until(only_the_new_is_kept, pause_s=2)
