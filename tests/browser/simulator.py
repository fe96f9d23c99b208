"""The page as a test drives it: by its ids and data attributes, as a user would, never by its inner state."""

import contextlib
import functools
import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, Route, Worker, expect

from app.cli.options import FLAGS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_MS = 30_000  # two tests and two interpreters share two cores
BOOT_MS = 90_000
WORKER = re.compile(r"/worker\.\w+\.js$")
BOKEH = re.compile(r"/bokeh\.\w+\.js$")

ABORTED = "net::ERR_FAILED"  # what the browser says of a script that was not let through

expect.set_options(timeout=PATIENCE_MS)

COUNTERS = ("running", "waiting", "finished", "blocks", "waste_used", "waste_pool", "preemptions", "rejected")
PARTS = ("real", "reserved", "internal", "external", "usable")


class Simulator:
    """One page in one browser context.

    Attributes:
        complaints: console errors, uncaught exceptions and refusals by the policy, as they came.
        outside: addresses asked for that are not the site's.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.asked: list[str] = []
        context.on("request", self._note_request)
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.set_default_navigation_timeout(BOOT_MS)
        self.page.on("console", self._note_message)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, query: str = "", *, python: bool = True, bokeh: bool = True) -> "Simulator":
        """Goes to the page and waits until it plays, and until nothing comes by itself that would change it.

        Args:
            query: of the address.
            python: wait for Python, unless the test does without or looks at the page before.
            bokeh: wait until all figures of the first tab are drawn.
        """
        self.page.goto(self.address + query)
        expect(self.locator("html")).to_have_attribute("data-playable", "true", timeout=BOOT_MS)
        if bokeh:
            expect(self.locator("html")).to_have_attribute("data-drawn", "true", timeout=BOOT_MS)
        if python:
            self.wait_for_python()
        return self

    def open_in_vain(self, query: str = "", **how: bool) -> "Simulator":
        """Opens the page where Python cannot be had, and waits until it has said so, which moves the rest."""
        self.open(query, python=False, **how)
        expect(self.locator("#python-state")).to_have_attribute("data-python", "failed", timeout=BOOT_MS)
        return self

    def leave(self) -> None:
        """Goes where nothing is, so that the page can be opened by somebody else as if it were new."""
        self.page.goto("about:blank")
        self.page.mouse.move(-10, -10)
        for noted in (self.complaints, self.outside, self.asked):
            noted.clear()

    def wait_for_python(self) -> None:
        """Waits until the settings can be changed, and the run that the address asks for is shown."""
        expect(self.locator("#python-state")).to_have_attribute("data-python", "ready", timeout=BOOT_MS)
        expect(self.locator("[data-notice=run]")).to_have_count(0)

    def locator(self, selector: str) -> Locator:
        """What a selector finds in the page."""
        return self.page.locator(selector)

    @property
    def frame(self) -> int:
        """The step that is shown."""
        return int(self.locator("#frame").input_value())

    def seek(self, step: int) -> None:
        """Drags the slider to a step."""
        self.locator("#frame").fill(str(step))

    def set(self, **settings: object) -> None:
        """Changes settings in the form, one after the other."""
        form = self.locator("#settings")
        form.locator("#advanced").evaluate("fold => { fold.open = true; }")
        for key, value in settings.items():
            field = form.locator(f"[name={key}]")
            if key == "mode":
                form.locator(f"[name=mode][value={value}]").check(force=True)
            elif key == "hold":
                field.set_checked(bool(value), force=True)
            elif field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(str(value))
            else:
                field.fill(str(value))
                field.dispatch_event("change")

    def set_replay(self, **settings: object) -> None:
        """Changes settings on the Replay tab, one after the other."""
        form = self.locator("#replay-form")
        self.page.evaluate(
            "() => document.querySelectorAll('#replay-settings, #replay-form details')"
            ".forEach((fold) => { fold.open = true; })"
        )
        for key, value in settings.items():
            field = form.locator(f"[name={key}]")
            if key == "mode":
                form.locator(f"[name=mode][value={value}]").check(force=True)
            elif field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(str(value))
            else:
                field.fill(str(value))

    def counters(self) -> dict[str, str]:
        """What the counters say, by name."""
        return self._texts("counter", COUNTERS)

    def waste(self) -> dict[str, str]:
        """What the figures below the waste bar say, by part of the pool."""
        return self._texts("waste", PARTS)

    def _texts(self, kind: str, names: tuple[str, ...]) -> dict[str, str]:
        """What the first element of each name says, all at one moment."""
        return self.page.evaluate(
            """([kind, names]) => Object.fromEntries(names.map((name) =>
                [name, document.querySelector(`[data-${kind}=${name}]`).innerText]))""",
            [kind, names],
        )

    def query(self, key: str | None = None) -> dict[str, str] | str | None:
        """The address's query, or one of its values."""
        query = dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))
        return query if key is None else query.get(key)

    def wait_for_address(self, key: str, value: str) -> None:
        """Waits until a key of the address has a value: it is written once what was asked for is shown."""
        self.page.wait_for_url(lambda url: dict(parse_qsl(urlsplit(url).query)).get(key) == value)

    def wait_for(self, read: Callable[[], object], wanted: object) -> None:
        """Waits until `read()` gives what is wanted, for what no single element says."""
        end = time.monotonic() + PATIENCE_MS / 1000
        while (seen := read()) != wanted:
            if time.monotonic() > end:
                raise AssertionError(f"{seen!r}, expected {wanted!r}")
            self.page.wait_for_timeout(50)

    def wait_for_frame(self, least: int) -> None:
        """Waits until the playhead has come as far as a step."""
        self.wait_for(lambda: self.frame >= least, True)

    def expect_frame(self, step: int) -> None:
        """Waits until exactly this step is shown."""
        expect(self.locator("#frame")).to_have_value(str(step))

    def expect_numbers(self, recording: dict, step: int) -> None:
        """Waits until counters and waste are those of a step of a recording that the command line printed."""
        wanted = (expected_counters(recording, step), expected_waste(recording, step))
        self.wait_for(lambda: (self.counters(), self.waste()), wanted)

    def expect_no_sideways_scroll(self) -> None:
        """Waits until the page is as wide as the window."""
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        self.wait_for(lambda: self.page.evaluate(wide), 0)

    @property
    def worker(self) -> Worker:
        """Where Python runs."""
        (worker,) = self.page.workers
        return worker

    def wait_for_steps(self, steps: int) -> None:
        """Waits until a run of so many steps is shown."""
        expect(self.locator("#frame")).to_have_attribute("max", str(steps))

    def drop(self, name: str, content: bytes) -> None:
        """Drops a file on the Replay tab, as a user does with a mouse."""
        self.page.evaluate(
            """([name, bytes]) => {
                const data = new DataTransfer();
                data.items.add(new File([new Uint8Array(bytes)], name));
                for (const kind of ["dragenter", "dragover", "drop"]) {
                    const how = { dataTransfer: data, bubbles: true, cancelable: true };
                    document.getElementById("replay-drop").dispatchEvent(new DragEvent(kind, how));
                }
            }""",
            [name, list(content)],
        )

    def saved(self, button: str, folder: Path) -> tuple[str, bytes]:
        """Presses a button that saves a file; the name that it is offered under, and its content."""
        with self.page.expect_download() as download:
            self.locator(button).click()
        file = folder / "saved"
        download.value.save_as(file)
        return download.value.suggested_filename, file.read_bytes()

    def _note_request(self, request: Request) -> None:
        self.asked.append(request.url)
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.outside.append(request.url)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")


def without_python(context: BrowserContext) -> None:
    """The worker cannot be fetched."""
    context.route(WORKER, lambda route: route.abort())


class Gate:
    """Holds a script back until it is opened: the worker's, unless another is named."""

    def __init__(self, context: BrowserContext, script: re.Pattern = WORKER) -> None:
        self._held: list[Route] = []
        context.route(script, lambda route: self._held.append(route))

    def open(self) -> None:
        """Lets the script load."""
        for route in self._held:
            with contextlib.suppress(Exception):  # the page may be gone
                route.continue_()


class HeldAnswers:
    """Keeps what Python answers from the page, from an answer on, so that a job is caught on its way.

    Args:
        page: where Python is there and has nothing to do.
        past: the first answer that tells of more than this share of a job is the last to come through;
            without it none does.
    """

    _HOLD = """(past) => {
        const post = self.postMessage.bind(self);
        const held = [];
        self.full = past === null;
        self.release = () => {
            self.postMessage = post;
            held.forEach((message) => post(...message));
        };
        self.postMessage = (...message) => {
            const { done, total } = message[0].response?.progress ?? { done: 0, total: 1 };
            if (self.full) {
                held.push(message);
            } else {
                self.full = done / total > past;
                post(...message);
            }
        };
    }"""

    def __init__(self, page: "Simulator", past: float | None = None) -> None:
        self._worker = page.worker
        self._worker.evaluate(self._HOLD, past)

    def release(self) -> None:
        """Lets through what was kept, and all that follows."""
        self._worker.evaluate("self.release()")


def kvscope(command: str, *arguments: str, **settings: object) -> dict:
    """What `kvscope COMMAND --json` prints, run as a user runs it; settings by the page's keys."""
    line = [command, *arguments, "--json", "--lang", "en"]
    if settings.pop("hold", 0):
        line.append("--hold")
    for key, value in settings.items():
        line += [FLAGS[key], str(value)]
    return json.loads(_printed(*line))


@functools.cache  # many tests ask for the same
def _printed(*arguments: str) -> str:
    line = [sys.executable, "-m", "app.cli", *arguments]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def percent(share: float) -> int:
    """A share in whole percent, halves rounded up as on the page."""
    return math.floor(100 * share + 0.5)


def expected_counters(recording: dict, step: int) -> dict[str, str]:
    """What the page's counters shall say at a step of a recording that the command line printed."""
    at = {name: values[step] for name, values in recording["frames"].items()}
    held = at["real"] + at["reserved"] + at["internal"]
    kept = at["real"] + at.get("cached", 0)  # what is cached is real KV too
    return {
        "running": str(at["running"]),
        "waiting": str(at["waiting"]),
        "finished": str(at["finished"]),
        "blocks": f"{at['used_blocks']}/{recording['num_blocks']}",
        "waste_used": f"{percent(1 - at['real'] / held if held else 0)} %",
        "waste_pool": f"{percent(1 - kept / recording['capacity'])} %",
        "preemptions": str(at["preemptions"]),
        "rejected": str(at["rejected"]),
    }


def expected_waste(recording: dict, step: int) -> dict[str, str]:
    """What the figures below the waste bar shall say."""
    slots = {part: recording["frames"][part][step] for part in PARTS}
    return {part: f"{n:,} · {percent(n / recording['capacity'])} %" for part, n in slots.items()}
