"""What other engines' own code returned for small inputs; the file lies beside the repository."""

import json
from pathlib import Path

import pytest

from tests.shared import SHARED, shared

FILE = SHARED / "golden" / "engine_behaviour.json"


def cases(letters: str, but: tuple[str, ...] = ()) -> list:
    """A parameter for each case whose id begins with one of `letters`, named by its id, `but` for some ids.

    Without the file there is one, which skips: the reason is shown, and the test is not lost from the report.
    """
    path = Path(FILE)
    if not path.exists():
        reason = f"{path} is missing; set KVSCOPE_SHARED to the folder that has it"
        return [pytest.param(None, id="missing", marks=pytest.mark.skip(reason=reason))]
    found = json.loads(path.read_text(encoding="utf-8"))["cases"]
    chosen = [
        pytest.param(case, id=case["id"])
        for case in found
        if case["id"][0] in letters and case["id"] not in but
    ]
    assert chosen, f"{path} has no case that begins with one of {letters}"
    return chosen


def case(id: str) -> dict:
    """The case of this id; skips the test, saying why, if the file is missing."""
    found = json.loads(shared("golden/engine_behaviour.json").read_text(encoding="utf-8"))["cases"]
    return next(each for each in found if each["id"] == id)
