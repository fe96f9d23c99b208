"""Real files that lie beside the repository, not in it: a test that needs one skips where they are absent."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("KVSCOPE_SHARED") or Path(__file__).resolve().parents[2] / "shared")


def shared(path: str) -> Path:
    """The file at this path below `SHARED`; skips the test, saying why, if it is missing."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"{found} is missing; set KVSCOPE_SHARED to the folder that has {path}")
    return found
