"""How long a whole trace takes on the Replay tab, and whether the page lives meanwhile, in Chromium.

    python -m benchmarks.page_replay TRACE [--site FOLDER] [--json]

Wall time from the file being chosen until the result is shown; the page's longest pause between two frames,
with the drawing of the result in it. Run it on a quiet machine.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.site import FLAGS, PATIENCE_MS, ROOT, served
from benchmarks.stopwatch import machine

GOAL_S = 20.0  # for the 19,366 requests of azure2023_conv.csv
WATCH_FRAMES = """() => {
    const frames = { longest: 0, last: performance.now() };
    window.frames_of_the_replay = frames;
    requestAnimationFrame(function next(now) {
        frames.longest = Math.max(frames.longest, now - frames.last);
        frames.last = now;
        requestAnimationFrame(next);
    });
}"""


def measure(site: Path, trace: Path) -> dict[str, float]:
    """Seconds until the whole trace is replayed, ms of the longest pause, and how many requests ended."""
    from playwright.sync_api import sync_playwright

    with served(site) as address, sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{address}?tab=replay&lang=en&limit=10000000")
        page.locator("#python-state[data-python=ready]").wait_for(state="attached")
        page.evaluate(WATCH_FRAMES)
        start = time.perf_counter()
        page.locator("#replay-file").set_input_files(trace)
        page.locator("#replay-table [data-field=num_finished] td").last.wait_for()
        seconds = time.perf_counter() - start
        page.wait_for_timeout(500)  # the charts follow the table
        pause_ms = page.evaluate("window.frames_of_the_replay.longest")
        rows = {
            name: int(page.locator(f"#replay-table [data-field={name}] td").last.get_attribute("data-value"))
            for name in ("num_requests", "num_finished", "num_rejected")
        }
        browser.close()
    return {"seconds": round(seconds, 1), "longest_pause_ms": round(pause_ms), **rows}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.page_replay", description=__doc__.splitlines()[0]
    )
    parser.add_argument("trace", type=Path)
    parser.add_argument("--site", type=Path, help="a built site; one is built if none is given")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = chosen.site
        if site is None:
            from app.site.static_site import build_site

            site = Path(folder) / "site"
            build_site(ROOT, site, say=lambda line: None)
        report = {"machine": machine(), "load": os.getloadavg()[0], **measure(site, chosen.trace)}
    if chosen.json:
        print(json.dumps(report))
        return
    print(f"{report['machine']}; load average {report['load']:.1f}")
    print(f"{report['num_finished']:,} of {report['num_requests']:,} requests finished")
    print(f"{report['seconds']:.1f} s until the result is shown (goal for azure2023_conv.csv: {GOAL_S:.0f})")
    print(f"{report['longest_pause_ms']} ms between two frames at most")


if __name__ == "__main__":
    main()
