"""`--html FILE`: replays and sweeps as a page of charts and tables that can be sent to somebody."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from app.backend.replay import hung_notices
from app.backend.settings import shorten
from app.cli.failure import fail
from app.cli.replay_view import ROWS, TIMES, figure, pool_sentences, setup_title, time_of
from app.cli.terminal import Terminal
from pycore.workload.trace import Trace

if TYPE_CHECKING:
    from app.cli.replay import ReplayRun
    from app.cli.sweep import Cell

SPREADS = ("mean", "p50", "p90", "p99", "max")


def html_option(terminal: Terminal) -> click.Option:
    """`--html`."""
    return click.Option(["--html"], help=terminal.text("report.option.html"))


def require_writable(path: str | None) -> None:
    """Finds out before the work whether the report can be written after it; None: none is wanted.

    Raises:
        RequestError: it cannot.
    """
    if path is None:
        return
    try:
        exists = Path(path).exists()
        with open(path, "ab"):
            pass
        if not exists:
            Path(path).unlink()
    except (OSError, ValueError) as reason:
        _cannot_be_written(path, reason)


def _cannot_be_written(path: str, reason: Exception) -> NoReturn:
    fail(
        "report.error", path=shorten(path), reason=getattr(reason, "strerror", None) or type(reason).__name__
    )


def write_report(path: str, content: str, terminal: Terminal) -> None:
    """Writes the file and says so.

    Raises:
        RequestError: it cannot be written.
    """
    try:
        Path(path).write_text(content, encoding="utf-8")
    except OSError as reason:
        _cannot_be_written(path, reason)
    terminal.note(terminal.text("report.written", path=shorten(path)))


def replay_report(trace: Trace, runs: Sequence["ReplayRun"], terminal: Terminal) -> str:
    """Runs over the same trace: lines over time, figures and latencies side by side."""
    from app.frontend.report_file import Lines, Table, report_file

    say = terminal.text
    names = [setup_title(run, terminal) for run in runs]

    def over_time(name: str, share: bool = False) -> Lines:
        series = {}
        for title, run in zip(names, runs, strict=True):
            line = run.result.time_line
            scale = 100 / run.result.capacity if share else 1
            series[title] = ([ns / 1e9 for ns in line["now_ns"]], [value * scale for value in line[name]])
        unit = say("report.percent") if share else say("report.requests")
        return Lines(say(f"replay.field.{name}"), say("report.seconds"), unit, series)

    figures = [
        (say(f"replay.field.{name}"), *(figure(name, run.result, terminal) for run in runs)) for name in ROWS
    ]
    hung = [each.sentences[terminal.lang] for run in runs for each in hung_notices(run.document, run.values)]
    times = [
        Table(
            title,
            (say("report.time"), *(say(f"replay.spread.{part}") for part in SPREADS)),
            [
                (
                    say(f"replay.field.{name}"),
                    *(time_of(run.result, name, part) for part in SPREADS),
                )
                for name in TIMES
            ],
        )
        for title, run in zip(names, runs, strict=True)
    ]
    return report_file(
        say("cli.replay.title", name=trace.name, requests=len(trace.requests)),
        terminal.lang,
        [*pool_sentences(runs[0], terminal), *hung],
        [over_time("running"), over_time("waiting"), over_time("real", share=True)],
        [Table(say("cli.replay.figure"), ("", *names), figures), *times],
    )


def sweep_report(cells: Sequence["Cell"], varied: Sequence[str], name: str, terminal: Terminal) -> str:
    """All cells of a sweep: a bar chart for each of the figures that a choice is made by, and the table."""
    from app.cli.sweep_view import COLUMNS, cell_name, figures, remarks
    from app.frontend.report_file import Bars, Table, report_file

    say = terminal.text
    done = [cell for cell in cells if cell.result is not None]
    names = [cell_name(cell, varied) for cell in done]
    charts = [
        Bars(title, unit, names, [pick(cell.result) for cell in done])
        for title, unit, pick in (
            (say("replay.field.tokens_per_second"), "", lambda result: result["tokens_per_second"]),
            (say("replay.field.ttft"), say("report.p90_s"), lambda result: result["ttft"]["p90"] / 1e9),
            (say("replay.field.tpot"), say("report.p90_ms"), lambda result: result["tpot"]["p90"] / 1e6),
            (say("replay.field.num_preemptions"), "", lambda result: result["num_preemptions"]),
            (
                say("replay.field.attainment"),
                say("report.percent"),
                lambda result: 100 * result["attainment"],
            ),
        )
    ]
    headings = (say("report.cell"), *(say(f"sweep.column.{column}") for column in COLUMNS))
    rows = [(title, *figures(cell.result, terminal)) for title, cell in zip(names, done, strict=True)]
    title = say("sweep.title", name=name, cells=len(cells))
    told = remarks(cells, varied, terminal)
    return report_file(title, terminal.lang, told, charts, [Table(title, headings, rows)])
