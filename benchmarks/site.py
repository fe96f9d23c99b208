"""How soon the static site plays and answers, and how smoothly, in Chromium on this machine.

    python -m benchmarks.site [--rounds 5] [--json]

Cold: a fresh user data folder each round, the site served on loopback, times from the start of navigation by
the page's own clock. Warm: the same browser opens the page again, service worker and code caches filled.
"""

import argparse
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.stopwatch import machine

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 120_000
# A run that the page does not carry, so that only Python can show it: 64 blocks, 90 steps.
ASKED = "?lang=en&mode=paged&seed=6"
FRAMES = 180
QUIET_LOAD = 1.0  # of /proc/loadavg, beyond which the figures say more about the machine than about the page

# Panel and Bokeh inside Pyodide, the other way to the same page: such a page fetches its packages from a
# public host at run time, so it cannot be timed here. Measured once on two cores: docs/decisions.md.
NAIVE = {"first_answer_s": (5.0, 7.0), "megabytes": 16.0}


@dataclass(frozen=True, slots=True)
class Budget:
    """One figure's name, unit and limit.

    Attributes:
        at_least: the limit is a floor, not a ceiling.
    """

    name: str
    title: str
    unit: str
    limit: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Whether a value keeps to the limit."""
        return value >= self.limit if self.at_least else value <= self.limit


BUDGETS = (
    Budget("playable", "cold: plays", "s", 1.2),
    Budget("answer", "cold: first answer of Python", "s", 3.0),
    Budget("warm_playable", "warm: plays", "s", 1.2),
    Budget("warm_answer", "warm: first answer of Python", "s", 2.2),
    Budget("megabytes", "compressed until interactive", "MB", 8.0),
    Budget("change", "a changed setting is shown", "ms", 300),
    Budget("stepping", "while playing at 16 steps/s", "frames/s", 50, at_least=True),
    Budget("dragging", "while dragging the slider", "frames/s", 50, at_least=True),
)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a built site on loopback; yields its address."""
    from app.site.server import SiteServer

    with SiteServer(folder, 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server.address
        server.shutdown()


# Waits for a mark without asking again and again, which would give the page more to do than it has untimed.
_MARKED = """(name) => new Promise((resolve) => {
    new PerformanceObserver((list, watch) => {
        const [found] = list.getEntriesByName(name);
        if (found) {
            watch.disconnect();
            resolve(found.startTime);
        }
    }).observe({ type: "mark", buffered: true });
})"""


def mark(page: object, name: str) -> float:
    """Seconds from the start of navigation until the page first set a mark."""
    return page.evaluate(_MARKED, name) / 1000


def visit(context: object, address: str) -> tuple[object, dict[str, float]]:
    """Opens the page; returns it with the seconds until it plays and until Python has answered."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address + ASKED, wait_until="commit")
    return page, {"playable": mark(page, "kvscope.playable"), "answer": mark(page, "kvscope.answer")}


def change(page: object, seed: int) -> float:
    """Milliseconds from the change of a setting until the next frame after its run is drawn."""
    return page.evaluate(
        """(seed) => new Promise((resolve) => {
            const start = performance.now();
            const drawn = () => requestAnimationFrame(() => resolve(performance.now() - start));
            const watch = new PerformanceObserver((list) => {
                if (list.getEntriesByName("kvscope.answer").length) {
                    watch.disconnect();
                    drawn();
                }
            });
            watch.observe({ type: "mark" });
            const field = document.querySelector("#settings [name=seed]");
            field.value = seed;
            field.dispatchEvent(new Event("input", { bubbles: true }));
        })""",
        seed,
    )


# Counts frames while `act` is called before each of them; the clock is the one that frames are given.
_RATE = """([frames, kind]) => new Promise((resolve) => {
    const slider = document.getElementById("frame");
    const drag = (i) => {
        slider.value = i % 91;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    };
    if (kind === "stepping") {
        document.getElementById("speed").value = "16";
        document.getElementById("speed").dispatchEvent(new Event("change", { bubbles: true }));
        drag(0);
        document.getElementById("play").click();
    }
    let first, i = 0;
    const tick = (now) => {
        first ??= now;
        if (i === frames) {
            if (kind === "stepping" && document.getElementById("play").dataset.label.endsWith("pause")) {
                document.getElementById("play").click();
            }
            slider.dispatchEvent(new Event("change", { bubbles: true }));
            resolve((1000 * frames) / (now - first));
            return;
        }
        if (kind === "dragging") {
            drag(i);
        }
        i += 1;
        requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
})"""


def round_of(chromium: object, executable: str, address: str, number: int) -> dict[str, float]:
    """One round of all figures, with a browser that has never seen the page."""
    folder = tempfile.mkdtemp(prefix="kvscope-bench-")
    try:
        context = chromium.launch_persistent_context(
            folder, executable_path=executable, args=FLAGS, viewport={"width": 1440, "height": 900}
        )
        page, cold = visit(context, address)
        page.evaluate("async () => { await navigator.serviceWorker.ready; }")
        page.close()
        page, warm = visit(context, address)
        page.wait_for_timeout(1500)  # the comparison run and the address are done
        figures = {
            **cold,
            **{f"warm_{name}": value for name, value in warm.items()},
            "change": median(change(page, 100 + 10 * number + i) for i in range(5)),
            "stepping": page.evaluate(_RATE, [60, "stepping"]),
            "dragging": page.evaluate(_RATE, [FRAMES, "dragging"]),
        }
        context.close()
        return figures
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(site: Path, megabytes: float, rounds: int, say: Callable[[str], None]) -> dict:
    """All figures as medians of `rounds`, with what each round gave and how busy the machine was."""
    from playwright.sync_api import sync_playwright

    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        raise SystemExit("benchmarks.site needs Chromium on PATH: `make browser` installs it.")
    found, loads = [], []
    with served(site) as address, sync_playwright() as playwright:
        for number in range(rounds):
            loads.append(os.getloadavg()[0])
            found.append(round_of(playwright.chromium, executable, address, number))
            say(f"round {number + 1} of {rounds}: " + ", ".join(f"{k} {v:.2f}" for k, v in found[-1].items()))
    figures = {name: median(each[name] for each in found) for name in found[0]}
    return {
        "version": 1,
        "machine": machine(),
        "load": loads,
        "figures": [
            {
                **asdict(budget),
                "value": round(value, 3),
                "met": budget.met(value),
                "rounds": [round(each[budget.name], 3) for each in found if budget.name in each],
            }
            for budget in BUDGETS
            for value in [figures.get(budget.name, megabytes)]
        ],
        "naive": {"of": "Panel and Bokeh inside Pyodide, measured elsewhere", **NAIVE},
    }


def show(report: dict) -> None:
    """Prints the report as a plain table."""
    loads = report["load"]
    print(f"{report['machine']}, load average {min(loads):.1f} to {max(loads):.1f}")
    if max(loads) > QUIET_LOAD:
        print("The machine was busy with other work: times are too long, rates too low.")
    print(f"\n{'':<34}{'median':>9}{'range':>18}{'budget':>12}")
    for each in report["figures"]:
        rounds = each["rounds"] or [each["value"]]
        spread = f"{min(rounds):.2f} – {max(rounds):.2f}"
        limit = f"{'≥' if each['at_least'] else '≤'} {each['limit']:g} {each['unit']}"
        verdict = "met" if each["met"] else "NOT MET"
        print(f"{each['title']:<34}{each['value']:>9.2f}{spread:>18}{limit:>16}  {verdict}")
    low, high = report["naive"]["first_answer_s"]
    size = report["naive"]["megabytes"]
    print(f"\n{report['naive']['of']}: first answer after {low:g}–{high:g} s, {size:g} MB.")
    print("Such a page fetches its packages from a public host at run time, so it is not timed here.")


def main() -> None:
    """Reads the options, builds the site unless one is given, measures, prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.site", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds, each with a new browser (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    from app.site.static_site import build_site

    def say(line: str) -> None:
        if not options.json:
            print(line, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        site = build_site(ROOT, Path(folder) / "site", say=say)
        report = measure(site.folder, site.until_interactive / 1e6, options.rounds, say)
    print(json.dumps(report, indent=1)) if options.json else show(report)


if __name__ == "__main__":
    main()
