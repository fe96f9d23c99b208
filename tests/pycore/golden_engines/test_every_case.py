"""No case of the file is passed over without a word."""

import json
import re
from pathlib import Path

from tests.shared import shared

# Cases that no rule of ours can reach, each with the reason; to be empty, or argued.
NOT_REACHED: dict[str, str] = {}

SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*_*.py"))


def test_every_case_is_replayed_or_argued():
    found = json.loads(shared("golden/engine_behaviour.json").read_text(encoding="utf-8"))["cases"]
    whole_kinds = set("".join(re.findall(r'[^a-z]cases\("([A-Z]+)"', SOURCES)))
    but = set(re.findall(r'"(\w+)"', "".join(re.findall(r"but=\((.*?)\)", SOURCES))))
    alone = set(re.findall(r'[^a-z]case\("(\w+)"\)', SOURCES))
    replayed = {case["id"] for case in found if case["id"][0] in whole_kinds} - but | alone
    assert {case["id"] for case in found} - replayed == NOT_REACHED.keys()
    assert all(NOT_REACHED.values())
