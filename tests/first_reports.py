"""The experiments' first results, made by one process of a test run while the others wait for them."""

import fcntl
from pathlib import Path

from app.frontend.cache_folder import cache_folder
from app.frontend.default_reports import default_reports

ROOT = Path(__file__).resolve().parents[1]


def first_reports() -> dict[str, dict]:
    """Responses by experiment, kept until the experiments' sources change."""
    kept = cache_folder(ROOT)
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "reports.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return default_reports()
