"""`kvscope replay`: a trace through one allocator, or through four of them side by side."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from app.backend.replay import hung_notices, make_replay, result_of, running
from app.backend.settings import Value
from app.cli.command import Command
from app.cli.failure import INTERRUPTED, OK, fail
from app.cli.hit_rate import policies_of, remark_on_study_options, study, study_options
from app.cli.html_report import html_option, replay_report, require_writable, write_report
from app.cli.interrupt import Interrupt
from app.cli.options import (
    FLAGS,
    MANAGER,
    all_settings,
    json_option,
    keep_good_option,
    manager_option,
    remark_on_idle,
    setting_options,
)
from app.cli.progress import followed, progress_bar
from app.cli.replay_view import show_replays, write_csv
from app.cli.terminal import Terminal
from app.cli.trace_source import read_source, trace_document
from pycore.memory.contiguous import RESERVATIONS
from pycore.replay_result import ReplayResult
from pycore.workload.trace import Trace

if TYPE_CHECKING:
    from rich.progress import Progress


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """One replay.

    Attributes:
        values: the settings it ran with, see app.backend.settings.
        result: what it came to, so far if `partial`.
        partial: whether it was stopped before its end.
        document: the result as plain JSON, with what the prefix cache found.
    """

    values: dict[str, Value]
    result: ReplayResult
    partial: bool
    document: dict


def replay_command(terminal: Terminal) -> Command:
    """The command."""

    def flag(name: str) -> click.Option:
        return click.Option([f"--{name}"], is_flag=True, help=terminal.text(f"cli.option.{name}"))

    return Command(
        "replay",
        terminal,
        "cli.about.replay",
        callback=lambda **given: replay(terminal, **given),
        epilog="cli.help.trace",
        params=[
            click.Argument(["trace"]),
            *setting_options("replay", terminal, no_default=("limit",)),
            *study_options(terminal),
            manager_option(terminal),
            flag("compare"),
            keep_good_option(terminal),
            json_option(terminal),
            flag("csv"),
            html_option(terminal),
        ],
    )


def replay(
    terminal: Terminal,
    trace: str,
    compare: bool,
    keep_good: bool,
    as_json: bool,
    csv: bool,
    html: str | None,
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
    require_writable(html)
    policies = policies_of(given["cache"])
    if policies is not None:
        return study(
            terminal,
            trace,
            policies,
            {**given, "compare": compare, "html": html},
            keep_good,
            "json" if as_json else "csv" if csv else "",
        )
    remark_on_study_options(given, terminal)
    for option, flag in (("mode", FLAGS["mode"]), ("res", FLAGS["res"]), ("manager", MANAGER)):
        if compare and given[option] is not None:
            fail("cli.error.compared", option=flag)
    values = all_settings("replay", given)
    if given["limit"] is None:
        values["limit"] = None  # the page stops after its default, a command reads the whole file
    if not compare:
        remark_on_idle(given, values["mode"], terminal)
    with progress_bar(terminal, quiet=as_json or csv) as progress:
        rows = read_source(trace, values["limit"], keep_good, progress, terminal)
        runs = _replays(rows, _setups(values) if compare else [values], progress, terminal)
    if html is not None:
        write_report(html, replay_report(rows, runs, terminal), terminal)
    if as_json:
        terminal.write_json("replay", {**trace_document(rows), **_document(runs)})
    elif csv:
        terminal.write(write_csv(runs))
    else:
        show_replays(rows, runs, terminal)
    for run in runs:
        for each in hung_notices(run.document, run.values):
            terminal.note(each.sentences[terminal.lang])
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
            replayed = make_replay(values, trace.requests)
            followed(progress, terminal.text(f"cli.setup.{setup_name(values)}"), running(replayed), interrupt)
            runs.append(
                ReplayRun(values, replayed.result(), partial=not replayed.done, document=result_of(replayed))
            )
    return runs


def setup_name(values: dict[str, Value]) -> str:
    """The last part of a setup's text key."""
    return "paged" if values["mode"] == "paged" else str(values["res"])


def _document(runs: list[ReplayRun]) -> dict:
    """All of it as plain JSON."""
    return {
        "partial": any(run.partial for run in runs),
        "runs": [{"settings": run.values, "partial": run.partial, "result": run.document} for run in runs],
    }
