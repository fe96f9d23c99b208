"""`kvscope replay`: a trace through one allocator, or through four of them side by side."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

from app.backend.replay import problem_text, reading, replay_engine_config, running, trace_notices
from app.backend.settings import Value, normalise
from app.cli.command import Command
from app.cli.failure import INTERRUPTED, OK, fail
from app.cli.interrupt import Interrupt
from app.cli.options import FLAGS, checked, json_option, remark_on_idle, setting_options
from app.cli.replay_view import show_replays, write_csv
from app.cli.terminal import Terminal
from app.cli.trace_source import open_source, source_name
from pycore.memory.contiguous import RESERVATIONS
from pycore.replay import Replay, ReplayResult
from pycore.workload.trace import Trace

if TYPE_CHECKING:
    from rich.progress import Progress

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """One replay.

    Attributes:
        values: the settings it ran with, see app.backend.settings.
        result: what it came to, so far if `partial`.
        partial: whether it was stopped before its end.
    """

    values: dict[str, Value]
    result: ReplayResult
    partial: bool


def replay_command(terminal: Terminal) -> Command:
    """The command."""

    def flag(name: str) -> click.Option:
        return click.Option([f"--{name}"], is_flag=True, help=terminal.text(f"cli.option.{name}"))

    keep = click.Option(["--keep-good/--strict"], default=True, help=terminal.text("cli.option.strict"))
    return Command(
        "replay",
        terminal,
        "cli.about.replay",
        callback=lambda **given: replay(terminal, **given),
        epilog="cli.help.trace",
        params=[
            click.Argument(["trace"]),
            *setting_options("replay", terminal, no_default=("limit",)),
            flag("compare"),
            keep,
            json_option(terminal),
            flag("csv"),
        ],
    )


def replay(
    terminal: Terminal,
    trace: str,
    compare: bool,
    keep_good: bool,
    as_json: bool,
    csv: bool,
    **given: object,
) -> int:
    """Reads, replays, and shows or writes what came of it.

    Returns:
        The exit code.

    Raises:
        RequestError: a setting is out of range, or the file gives no trace.
    """
    if as_json and csv:
        fail("cli.error.two_formats")
    for option in ("mode", "res"):
        if compare and given[option] is not None:
            fail("cli.error.compared", option=FLAGS[option])
    values, _ = normalise("replay", checked("replay", given))
    if given["limit"] is None:
        values["limit"] = None  # the page stops after its default, a command reads the whole file
    if not compare:
        remark_on_idle(given, values["mode"], terminal)
    with _progress(terminal, quiet=as_json or csv) as progress:
        stream, size = open_source(trace)
        name = source_name(trace)
        read = reading(stream, size, name, values["limit"], keep_good)
        rows = _followed(progress, terminal.text("cli.progress.read"), read)
        for remark in trace_notices(rows):
            terminal.note(remark.sentences[terminal.lang])
        runs = _replays(rows, _setups(values) if compare else [values], progress, terminal)
    if as_json:
        terminal.write_json("replay", _document(rows, runs))
    elif csv:
        terminal.write(write_csv(runs))
    else:
        show_replays(rows, runs, terminal)
    stopped = any(run.partial for run in runs)
    if stopped:
        terminal.note(terminal.text("cli.partial"))
    return INTERRUPTED if stopped else OK


def _setups(values: dict[str, Value]) -> list[dict[str, Value]]:
    """Paged, and contiguous with every reservation."""
    return [{**values, "mode": "paged"}] + [
        {**values, "mode": "contiguous", "res": each} for each in RESERVATIONS
    ]


def _replays(
    trace: Trace, setups: list[dict[str, Value]], progress: "Progress", terminal: Terminal
) -> list[ReplayRun]:
    """One replay after the other, up to the one in which Ctrl-C is pressed."""
    runs: list[ReplayRun] = []
    with Interrupt() as interrupt:
        for values in setups:
            if interrupt.asked:
                break
            replayed = Replay(replay_engine_config(values), trace.requests)
            _followed(
                progress, terminal.text(f"cli.setup.{setup_name(values)}"), running(replayed), interrupt
            )
            runs.append(ReplayRun(values, replayed.result(), partial=not replayed.done))
    return runs


def setup_name(values: dict[str, Value]) -> str:
    """The last part of a setup's text key."""
    return "paged" if values["mode"] == "paged" else str(values["res"])


def _progress(terminal: Terminal, quiet: bool) -> "Progress":
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    hidden = quiet or not terminal.err.is_terminal
    return Progress(*columns, console=terminal.err, disable=hidden, transient=True)


def _followed(
    progress: "Progress",
    label: str,
    work: Generator[tuple[int, int], None, Result],
    interrupt: Interrupt | None = None,
) -> Result | None:
    """Does the work while the bar follows it; its result, None if it was interrupted."""
    task = progress.add_task(label, total=None)
    try:
        while interrupt is None or not interrupt.asked:
            done, total = next(work)
            progress.update(task, completed=done, total=max(1, total))
    except StopIteration as end:
        return end.value
    finally:
        work.close()
        progress.remove_task(task)
    return None


def _document(trace: Trace, runs: list[ReplayRun]) -> dict:
    """All of it as plain JSON."""
    problems = [
        {
            "line": problem.line,
            "column": problem.column,
            "value": problem.value,
            "code": problem.code,
            "expected": problem.expected,
            **problem_text(problem),
        }
        for problem in (*trace.problems, *trace.notices)
    ]
    return {
        "trace": {
            "name": trace.name,
            "format": trace.format,
            "requests": len(trace.requests),
            "rows": trace.total_rows,
            "bad_rows": trace.bad_rows,
            "truncated": trace.truncated,
            "problems": problems,
        },
        "partial": any(run.partial for run in runs),
        "runs": [
            {"settings": run.values, "partial": run.partial, "result": run.result.as_dict()} for run in runs
        ],
    }
