"""The command as a process: entry point, streams, signals, encodings, speed."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tests.app.cli.process import ROOT, finished, started
from tests.shared import shared

TRACE = "prompt,output\n" + "300,100\n" * 4000
LONG = "prompt,output\n" + "300,100\n" * 50_000  # seconds of work, of which Ctrl-C finds some left


def test_the_entry_point_is_the_command():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert EntryPoint("kvscope", scripts["kvscope"], "console_scripts").load().__module__ == "app.cli.kvscope"


def test_what_was_asked_for_goes_to_stdout_and_remarks_to_stderr(process):
    outcome = process("run", "--reservation", "max", "--json")
    assert outcome.code == 0
    assert outcome.document["command"] == "run"
    assert outcome.err == "--reservation has no effect here; it belongs to contiguous memory.\n"


def test_refusal_is_exit_code_2_with_nothing_on_stdout(process):
    outcome = process("replay", "/nowhere.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "kvscope: There is no file /nowhere.csv; expected a CSV or JSONL trace.\n"


def test_the_locale_chooses_the_language(process):
    assert (
        process("rum", environment={"LANG": "zh_CN.UTF-8"}).err
        == "kvscope: kvscope 没有命令“rum”；可用的有 run。\n"
    )


def test_piped_output_is_plain(process):
    assert "\x1b" not in process("run").out


def test_output_for_a_terminal_without_blocks_is_ascii(process):
    environment = {"PYTHONIOENCODING": "ascii", "LANG": "C"}
    outcome = process("run", "--at", 20, environment=environment)
    assert outcome.code == 0
    assert "r12 ####" in outcome.out
    assert process("replay", "-", environment=environment, stdin=subprocess.DEVNULL).code == 2


def test_a_trace_can_be_piped_in():
    outcome = finished(started("replay", "-", "--limit", 5, "--json", stdin=subprocess.PIPE), TRACE.encode())
    assert outcome.document["trace"]["name"] == "stdin"
    assert outcome.document["trace"]["requests"] == 5


@pytest.mark.parametrize("options", [(), ("--json",), ("--help",)])
def test_a_reader_that_leaves_ends_the_command_quietly(options):
    process = started("run", *options)
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == b""


def test_a_pipe_that_was_left_non_blocking_gets_all_of_a_long_answer():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    process = started("run", "--json", "--steps", 200, to=writer)
    os.close(writer)
    select.select([reader], [], [])
    time.sleep(0.3)  # meanwhile the pipe is full
    with open(reader, "rb") as answer:
        content = answer.read()
    assert len(content) > 65_536
    assert json.loads(content)["command"] == "run"
    assert (process.wait(timeout=60), process.stderr.read()) == (0, b"")


def interrupted(tmp_path: Path, *options: str) -> tuple[int, str, str]:
    """A long replay that gets Ctrl-C once its progress is shown on a terminal."""
    path = tmp_path / "long.csv"
    path.write_text(LONG, encoding="utf-8")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "replay", str(path), "--blocks", "200", *options],
        cwd=ROOT,
        env={**os.environ, "LANG": "C.UTF-8", "LC_ALL": "", "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while b"Paged" not in shown:  # the replay's own bar; what comes before is reading
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    out = process.stdout.read()
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        shown += more
    os.close(ours)
    return process.wait(timeout=60), out.decode(), shown.decode()


def test_ctrl_c_shows_what_was_measured_so_far(tmp_path):
    code, out, err = interrupted(tmp_path)
    assert code == 130
    assert "Paged was stopped after" in out
    assert "Traceback" not in err
    assert "Stopped by Ctrl-C" in err


def test_ctrl_c_ends_a_comparison_with_what_is_there(tmp_path):
    code, out, _ = interrupted(tmp_path, "--compare")
    assert code == 130
    assert "Pow2" not in out


def test_help_loads_neither_the_page_nor_the_simulator(process):
    code = (
        "import sys; from app.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('bokeh', 'panel', 'numpy', 'pycore') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["run", "replay", "experiment"])
def test_no_command_loads_the_page(command):
    code = (
        f"import sys, app.cli.{command}; print([n for n in ('bokeh', 'panel', 'numpy') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_a_real_trace_is_replayed_from_the_shell(process):
    outcome = process("replay", shared("traces/azure2023_conv.csv"), "--limit", 200)
    assert outcome.code == 0
    assert outcome.out.startswith("azure2023_conv.csv: 200 requests\n")
    assert outcome.err == "The first 200 good rows are replayed.\n"
