"""Whole runs, compared exactly with what they were: here, in a fresh process, and through the page's door.

The browser suite compares the same digests in Pyodide. `python -m tests.golden.regenerate` writes them anew.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.backend.handle import Handler
from tests.golden.runs import DIGESTS, FOLDER, READABLE, RUNS, readable, recording_of

ROOT = Path(__file__).resolve().parents[2]
KEPT = json.loads(DIGESTS.read_text(encoding="utf-8"))


def test_the_kept_runs_are_those_that_are_declared():
    assert {name: kept["settings"] for name, kept in KEPT.items()} == RUNS
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(READABLE)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_what_it_was_and_twice_the_same(name):
    assert recording_of(RUNS[name]).digest() == KEPT[name]["digest"]
    assert recording_of(RUNS[name]).digest() == KEPT[name]["digest"]


@pytest.mark.parametrize("name", READABLE)
def test_the_frames_of_a_run_are_what_they_were(name):
    assert readable(name).splitlines() == (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", RUNS)
def test_the_pages_door_records_the_same_run(name):
    response = Handler().handle({"kind": "simulate", "settings": RUNS[name]})
    assert response["error"] is None
    assert response["sources"]["recording"]["digest"] == KEPT[name]["digest"]


@pytest.mark.parametrize("name", RUNS)
def test_every_record_has_all_the_fields_of_its_kind(name):
    for frame in recording_of(RUNS[name]).frames:
        for each in (frame, frame.memory, frame.waste, *frame.events):
            assert len(each) == len(each._fields), type(each).__name__


def test_the_runs_show_what_they_are_kept_for():
    def last(name):
        return recording_of(RUNS[name]).frames[-1]

    assert last("small-pool-that-preempts").num_preemptions > 0
    assert last("some-never-fit").num_rejected > 0
    assert last("two-thousand-steps").num_finished == 48
    for name in ("hash-chain", "hash-chain-as-in-vllm-v1", "radix-tree", "radix-tree-as-in-sglang"):
        kinds = {type(event).__name__ for frame in recording_of(RUNS[name]).frames for event in frame.events}
        assert {"PrefixHit", "BlocksEvicted"} <= kinds, name
    for name, settings in RUNS.items():
        frames = recording_of(settings).frames
        external = any(frame.waste.external for frame in frames)
        assert not (external and settings.get("mode") != "contiguous"), name
    assert any(frame.waste.external for frame in recording_of(RUNS["oracle-first-fit"]).frames)


def test_different_seeds_give_different_runs():
    digests = {recording_of({"seed": seed}).digest() for seed in range(12)}
    assert len(digests) == 12


@pytest.mark.parametrize("hash_seed", ["0", "1", "4294967295"])
def test_a_fresh_process_with_another_hash_seed_records_the_same_runs(hash_seed):
    script = "import json; from tests.golden.runs import digests; print(json.dumps(digests()))"
    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout) == KEPT
