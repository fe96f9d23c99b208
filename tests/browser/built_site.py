"""The project's own site, built once for all processes of a test run and kept until its sources change."""

import fcntl
import hashlib
import importlib.metadata
import shutil
from pathlib import Path

from app.frontend.cache_folder import cache_folder
from app.site.static_site import build_site
from tests.first_reports import first_reports

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("pycore", "app", "static", "requirements.lock")
KEPT = 2  # sites; another test run may still be using the one before


def built_site() -> Path:
    """Folder of the built site; it lies in a folder of its own, so that it can be served below a sub-path."""
    sites = cache_folder(ROOT) / "browser_sites"
    sites.mkdir(parents=True, exist_ok=True)
    with (sites / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # pytest-xdist's processes all come here first
        site = sites / _fingerprint() / "below" / "a-path"
        if not (site / "sw.js").is_file():
            oldest_first = sorted((path for path in sites.iterdir() if path.is_dir()), key=_age)
            for path in oldest_first[: -(KEPT - 1)]:
                shutil.rmtree(path)
            first_reports()
            build_site(ROOT, site, numpy=True, say=lambda line: None)
    return site


def _age(path: Path) -> float:
    return path.stat().st_mtime


def _fingerprint() -> str:
    """Of everything that the site is made from."""
    digest = hashlib.sha256(importlib.metadata.version("bokeh").encode())
    for source in SOURCES:
        path = ROOT / source
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]
