"""Chromium for the tests that look at a page: Debian's, driven by playwright.

KVSCOPE_NO_BROWSER=1 skips these tests. Without it, a missing Chromium fails them: a suite that
skips what it cannot see would be green on every bare machine.
"""

import os
import shutil

import pytest

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


def find_chromium() -> str:
    """Path of the browser; skips or fails the test if there shall be or is none."""
    if os.environ.get("KVSCOPE_NO_BROWSER") == "1":
        pytest.skip("KVSCOPE_NO_BROWSER=1")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.fail(
            "Chromium was not found on PATH. `make browser` installs it (Debian's package: chromium); "
            "KVSCOPE_NO_BROWSER=1 leaves the browser tests out.",
            pytrace=False,
        )
    return found
