"""What a call of the command came to, and the command as a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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


def started(
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    to: int = subprocess.PIPE,
    **more: object,
) -> subprocess.Popen:
    """The command in a process of its own, its stdout to the file `to`."""
    plain = {
        name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LC_MESSAGES", "LANG")
    }
    return subprocess.Popen(
        [sys.executable, "-m", "app.cli", *map(str, arguments)],
        cwd=ROOT,
        env={**plain, "LANG": "C.UTF-8", **(environment or {})},
        stdout=to,
        stderr=subprocess.PIPE,
        **more,
    )


def finished(process: subprocess.Popen, fed: bytes | None = None) -> Outcome:
    """What the process came to."""
    out, err = process.communicate(fed, timeout=120)
    return Outcome(process.returncode, out.decode(), err.decode())
