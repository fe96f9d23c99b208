"""The command, called in this process and as one of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.cli import main

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Outcome:
    """What a call came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict:
        """stdout as the one JSON document it should be."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


@pytest.fixture
def kvscope(capsys, monkeypatch) -> Callable[..., Outcome]:
    """Calls the command in this process, on an English terminal of 100 columns."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(each) for each in arguments])
        written = capsys.readouterr()
        return Outcome(left.value.code, written.out, written.err)

    return call


@pytest.fixture
def refused(kvscope) -> Callable[..., str]:
    """Calls the command, which should refuse; the one sentence it says."""

    def call(*arguments: object) -> str:
        outcome = kvscope(*arguments)
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert outcome.err.count("\n") == 1, outcome.err
        assert outcome.err.startswith("kvscope: ")
        return outcome.err.removeprefix("kvscope: ").rstrip("\n")

    return call


def started(
    *arguments: object, environment: Mapping[str, str] | None = None, **more: object
) -> subprocess.Popen:
    """The command in a process of its own."""
    plain = {
        name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LC_MESSAGES", "LANG")
    }
    return subprocess.Popen(
        [sys.executable, "-m", "app.cli", *map(str, arguments)],
        cwd=ROOT,
        env={**plain, "LANG": "C.UTF-8", **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def finished(process: subprocess.Popen, fed: bytes | None = None) -> Outcome:
    """What the process came to."""
    out, err = process.communicate(fed, timeout=120)
    return Outcome(process.returncode, out.decode(), err.decode())


@pytest.fixture
def process() -> Callable[..., Outcome]:
    """Runs the command in a process of its own, to its end."""
    return lambda *arguments, **more: finished(started(*arguments, **more))
