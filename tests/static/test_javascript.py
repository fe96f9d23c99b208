"""Runs the tests of static/*.js, which are node's own kind (`node --test`), one pytest test a file."""

import subprocess
from pathlib import Path

import pytest

from app.site.interpreter import find_node

FOLDER = Path(__file__).parent
TIMEOUT_S = 120


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.*js")))
def test_node_finds_nothing_wrong_in(name):
    run = subprocess.run(
        [find_node(), "--test", "--test-reporter=spec", name],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    # Of a file that holds no test node says that the file itself passed.
    assert f"✔ {name} " not in run.stdout, f"{name} holds no test"
