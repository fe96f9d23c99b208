"""`kvscope sweep` runs every combination once, keeps what is done, and computes it wherever it is told to."""

import csv
import io
import json
import signal
import time
from dataclasses import fields

import pytest

from app.cli.sweep_cells import FinishedCells, grid
from pycore.replay_result import ReplayResult
from tests.app.cli.process import finished, started

TRACE = "arrival_s,prompt,output\n" + "".join(
    f"{i / 10},{20 + 7 * i % 50},{5 + 3 * i % 40}\n" for i in range(40)
)
FIGURES = {field.name: 1 for field in fields(ReplayResult) if field.name != "time_line"}
SETTINGS = ("--blocks", 16, "--max-len", 200)


@pytest.fixture
def trace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "trace.csv"
    path.write_text(TRACE, encoding="utf-8")
    return path


def without_time_line(outcome):
    return {
        name: value for name, value in outcome.document["runs"][0]["result"].items() if name != "time_line"
    }


def test_a_grid_has_every_combination_the_last_setting_changing_first():
    assert grid({"a": [1, 2], "b": ["x"], "c": [3, 4]}) == [
        {"a": 1, "b": "x", "c": 3},
        {"a": 1, "b": "x", "c": 4},
        {"a": 2, "b": "x", "c": 3},
        {"a": 2, "b": "x", "c": 4},
    ]
    assert grid({}) == [{}]


def test_a_cell_is_the_replay_of_its_settings(kvscope, trace):
    swept = kvscope("sweep", trace, *SETTINGS, "--block-size", "4,8", "--jobs", 2, "--json")
    assert swept.code == 0
    assert [cell["settings"]["bs"] for cell in swept.document["cells"]] == [4, 8]
    assert swept.document["varied"] == ["bs"]
    assert not swept.document["partial"]
    for size, cell in zip((4, 8), swept.document["cells"], strict=True):
        alone = kvscope("replay", trace, *SETTINGS, "--block-size", size, "--json")
        assert cell["result"] == without_time_line(alone)
        assert cell["result"]["num_preemptions"] > 0


def test_cells_that_are_done_are_not_computed_again(kvscope, trace):
    first = kvscope("sweep", trace, *SETTINGS, "--block-size", "4,8", "--json")
    kept = trace.with_name("trace.sweep.jsonl")
    lines = kept.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    told = json.loads(lines[0])
    told["result"]["num_preemptions"] = 12345  # so that it shows whether it was read or computed
    kept.write_text(json.dumps(told) + "\n" + lines[1][:40], encoding="utf-8")  # cut off in the middle
    again = kvscope("sweep", trace, *SETTINGS, "--block-size", "4,8,16", "--json")
    cells = {cell["settings"]["bs"]: cell["result"] for cell in again.document["cells"]}
    before = {cell["settings"]["bs"]: cell["result"] for cell in first.document["cells"]}
    changed = told["settings"]["bs"]
    assert cells[changed]["num_preemptions"] == 12345
    other = 12 - changed
    assert cells[other] == before[other]
    assert again.err == "1 of 3 cells were done before.\n"


def test_another_trace_does_not_count_as_done(tmp_path):
    kept = FinishedCells(tmp_path / "kept.jsonl", b"one", 0, True)
    kept.add({"bs": 4}, FIGURES)
    assert FinishedCells(tmp_path / "kept.jsonl", b"one", 0, True).result({"bs": 4}) == FIGURES
    assert FinishedCells(tmp_path / "kept.jsonl", b"two", 0, True).result({"bs": 4}) is None
    assert FinishedCells(tmp_path / "kept.jsonl", b"one", 5, True).result({"bs": 4}) is None


@pytest.mark.parametrize(
    "damage",
    [
        {"settings": 5},
        {"settings": [["bs", 4]]},
        {"result": None},
        {"result": {"num_finished": 1}},
        {"version": 2},
        {"trace": []},
    ],
)
def test_a_damaged_line_does_not_count_and_what_is_added_after_it_does(tmp_path, damage):
    path = tmp_path / "kept.jsonl"
    FinishedCells(path, b"one", 0, True).add({"bs": 4}, FIGURES)
    damaged = json.dumps({**json.loads(path.read_text(encoding="utf-8")), **damage})
    path.write_text(damaged, encoding="utf-8")  # without the end of the line
    kept = FinishedCells(path, b"one", 0, True)
    assert kept.result({"bs": 4}) is None
    kept.add({"bs": 8}, FIGURES)
    kept.add({"bs": 16}, FIGURES)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3
    again = FinishedCells(path, b"one", 0, True)
    assert [again.result({"bs": size}) for size in (4, 8, 16)] == [None, FIGURES, FIGURES]


def test_cells_in_which_requests_wait_for_ever_are_named(kvscope, trace):
    swept = kvscope("sweep", trace, "--rules", "vllm-v1", "--block-size", 4, "--blocks", "8,400")
    assert swept.code == 0
    assert swept.err.startswith("blocks 8: ")
    assert "never end: r" in swept.err
    assert "blocks 400" not in swept.err


def test_the_table_and_the_csv_have_a_row_for_each_cell(kvscope, trace):
    table = kvscope("sweep", trace, *SETTINGS, "--watermark", "0,1,5")
    assert table.code == 0
    assert "trace.csv: 3 cells" in table.out
    rows = list(
        csv.DictReader(io.StringIO(kvscope("sweep", trace, *SETTINGS, "--watermark", "0,1,5", "--csv").out))
    )
    assert [row["wm"] for row in rows] == ["0.0", "1.0", "5.0"]
    assert all(row["num_finished"] == "40" for row in rows)


def test_interrupted_it_keeps_what_is_done_and_goes_on_later(tmp_path, process):
    path = tmp_path / "long.csv"
    path.write_text("prompt,output\n" + "300,100\n" * 1500, encoding="utf-8")
    sizes = ",".join(map(str, range(1, 401)))  # so many that it is on its way whenever it is interrupted
    kept = tmp_path / "kept.jsonl"
    options = ("--blocks", 2000, "--results", kept, "--json")
    command = started("sweep", path, "--block-size", sizes, "--jobs", 1, *options)
    deadline = time.monotonic() + 60
    while not (kept.exists() and kept.read_bytes().endswith(b"\n")) and time.monotonic() < deadline:
        time.sleep(0.05)
    command.send_signal(signal.SIGINT)
    stopped = finished(command)
    assert stopped.code == 130
    done = len(stopped.document["cells"])
    assert stopped.document["partial"]
    assert 1 <= done < 400
    assert len(kept.read_text(encoding="utf-8").splitlines()) == done
    first = stopped.document["cells"][0]["settings"]["bs"]
    resumed = process("sweep", path, "--block-size", first, *options)
    assert resumed.code == 0
    assert resumed.err.endswith("1 of 1 cells were done before.\n")


def test_a_cluster_of_worker_processes_gives_the_same_cells(kvscope, trace, tmp_path):
    distributed = pytest.importorskip("distributed")
    here = kvscope("sweep", trace, *SETTINGS, "--block-size", "4,8", "--results", "here.jsonl", "--json")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        address = cluster.scheduler_address
        there = kvscope(
            *("sweep", trace, *SETTINGS, "--block-size", "4,8"),
            *("--results", "there.jsonl", "--dask", address, "--json"),
        )
    assert there.code == 0
    assert there.document["cells"] == here.document["cells"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--dask", "tcp://127.0.0.1:1"), "No dask scheduler answers at tcp://127.0.0.1:1 (OSError)"),
        (("--dask", "nonsense://x"), "No dask scheduler answers at nonsense://x"),
        (("--dask", "tcp://127.0.0.1:99999"), "No dask scheduler answers at tcp://127.0.0.1:99999"),
        (("--dask", ""), "No dask scheduler answers at"),
        (("--block-size", "4,0"), "--block-size is “0”; expected 1 … 1,024."),
        (("--block-size", "4,,8"), "--block-size is “”; expected"),
        (("--limit", "3,4"), "--limit takes one number"),
        (("--jobs", "0"), "--jobs is “0”; expected 1 … 1,024"),
        (("--results", "/nowhere/at/all.jsonl"), "/nowhere/at/all.jsonl cannot keep the results"),
        (("--json", "--csv"), "--json"),
        (
            ("--seed", ",".join(map(str, range(200))), "--watermark", ",".join(map(str, range(51)))),
            "10,200 cells",
        ),
    ],
)
def test_refusals_are_one_sentence(refused, trace, monkeypatch, options, sentence):
    monkeypatch.setattr("app.cli.sweep_workers._CONNECT_S", 1)
    assert sentence in refused("sweep", trace, *SETTINGS, *options)


def test_a_file_that_is_no_trace_is_refused_as_by_replay(refused, trace):
    trace.write_text("a,b\n1,2\n", encoding="utf-8")
    assert "trace.csv" in refused("sweep", trace, "--block-size", "4,8")


def test_ways_to_manage_memory_are_swept_in_one_word(kvscope, trace):
    outcome = kvscope("sweep", trace, *SETTINGS, "--manager", "paged,max", "--json")
    settings = [(cell["settings"]["mode"], cell["settings"]["res"]) for cell in outcome.document["cells"]]
    assert settings == [("paged", "max"), ("contiguous", "max")]
    table = kvscope("sweep", trace, *SETTINGS, "--manager", "paged,max").out
    assert all(word in table for word in ("manager", "paged", "max"))
