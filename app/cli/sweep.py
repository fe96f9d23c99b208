"""`kvscope sweep`: a trace through every combination of settings, on all cores or on a cluster."""

from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import click

from app.backend.request_error import RequestError
from app.backend.settings import SETTINGS, Value, shorten
from app.cli.command import Command
from app.cli.failure import INTERRUPTED, OK, fail
from app.cli.html_report import html_option, require_writable, sweep_report, write_report
from app.cli.interrupt import Interrupt
from app.cli.options import (
    all_settings,
    checked,
    json_option,
    keep_good_option,
    manager_option,
    setting_options,
    whole_number,
)
from app.cli.progress import progress_bar
from app.cli.sweep_cells import NO_LIMIT, FinishedCells, grid
from app.cli.sweep_view import show_sweep, write_csv
from app.cli.sweep_workers import cluster, default_count, finished, processes
from app.cli.terminal import Terminal
from app.cli.trace_source import open_source, read_stream, source_name

MOST_CELLS = 10_000
MOST_PROCESSES = 1024
NAMES = ("model", "gpu")


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination and what it came to.

    Attributes:
        values: every replay setting.
        result: ReplayResult.as_dict() without its time line; None: not done, or it cannot be.
        error: why it cannot be, by language; empty if it can.
    """

    values: dict[str, Value]
    result: dict | None
    error: Mapping[str, str]


def sweep_command(terminal: Terminal) -> Command:
    """The command."""

    def option(name: str) -> click.Option:
        return click.Option([f"--{name}"], help=terminal.text(f"sweep.option.{name}"))

    csv = click.Option(["--csv"], is_flag=True, help=terminal.text("sweep.option.csv"))
    return Command(
        "sweep",
        terminal,
        "cli.about.sweep",
        callback=lambda **given: run_sweep(terminal, **given),
        epilog="sweep.help",
        params=[
            click.Argument(["trace"]),
            *setting_options("replay", terminal, no_default=("limit",)),
            manager_option(terminal),
            option("jobs"),
            option("dask"),
            option("results"),
            keep_good_option(terminal),
            json_option(terminal),
            csv,
            html_option(terminal),
        ],
    )


def run_sweep(
    terminal: Terminal,
    trace: str,
    jobs: str | None,
    dask: str | None,
    results: str | None,
    keep_good: bool,
    as_json: bool,
    csv: bool,
    html: str | None,
    **given: object,
) -> int:
    """Runs the cells that are not done yet, and shows or writes all of them.

    Returns:
        The exit code.

    Raises:
        RequestError: a setting is out of range, the file gives no trace, or nobody computes.
    """
    if as_json and csv:
        fail("cli.error.two_formats")
    require_writable(html)
    count = whole_number("--jobs", jobs, 1, MOST_PROCESSES) or default_count()
    varied = {key: _values(key, str(words)) for key, words in given.items() if words is not None}
    limits = varied.pop("limit", [NO_LIMIT])
    if len(limits) > 1:
        fail("sweep.error.one_limit")
    cells = grid(varied)
    if len(cells) > MOST_CELLS:
        fail("sweep.error.cells", n=len(cells), most=MOST_CELLS)
    wanted = [{**all_settings("replay", each), "limit": limits[0]} for each in cells]
    stream, size = open_source(trace)
    with stream:
        content = stream.read(size)
    job = (content, source_name(trace), int(limits[0]), keep_good)
    with progress_bar(terminal, quiet=as_json or csv) as progress:  # complaints come before the work
        read_stream(BytesIO(content), size, job[1], job[2] or None, keep_good, progress, terminal)
    path = Path(results) if results else Path(f"{Path(source_name(trace)).stem}.sweep.jsonl")
    try:
        kept = FinishedCells(path, content, int(limits[0]), keep_good)
        done = _run(wanted, kept, job, count, dask, as_json or csv, terminal)
    except OSError as reason:
        fail("sweep.error.results", path=shorten(path), reason=reason.strerror or type(reason).__name__)
    names = [key for key, values in varied.items() if len(values) > 1]
    if html is not None:
        write_report(html, sweep_report(done, names, job[1], terminal), terminal)
    if as_json:
        document = [{"settings": cell.values, "result": cell.result, "error": cell.error} for cell in done]
        terminal.write_json("sweep", {"partial": len(done) < len(wanted), "varied": names, "cells": document})
    elif csv:
        terminal.write(write_csv(done, terminal.lang))
    else:
        show_sweep(done, names, job[1], terminal)
    if len(done) < len(wanted):
        terminal.note(terminal.text("sweep.partial", done=len(done), total=len(wanted), path=shorten(path)))
        return INTERRUPTED
    return OK


def _values(key: str, words: str) -> list[Value]:
    """An option's values, with commas between them; the same one twice counts once.

    Raises:
        RequestError: one of them is out of range.
    """
    from app.backend.deployment import spec_name

    found = []
    for word in words.split(","):
        said = spec_name(key, word.strip()) if key in NAMES else word.strip()
        is_setting = key in SETTINGS["replay"]  # or a manager, which is read with all others
        found.append(checked("replay", {key: said})[key] if is_setting else said)
    return list(dict.fromkeys(found))


def _run(
    wanted: list[dict[str, Value]],
    kept: FinishedCells,
    job: tuple[bytes, str, int, bool],
    count: int,
    dask: str | None,
    quiet: bool,
    terminal: Terminal,
) -> list[Cell]:
    """Runs what is not kept yet; the cells that are done, in the order of the grid."""
    missing = [values for values in wanted if kept.result(values) is None]
    if len(missing) < len(wanted):
        terminal.note(terminal.text("sweep.resumed", kept=len(wanted) - len(missing), total=len(wanted)))
    errors: dict[int, Mapping[str, str]] = {}
    if missing:
        with progress_bar(terminal, quiet) as progress, Interrupt() as interrupt:
            task = progress.add_task(terminal.text("sweep.progress"), total=len(wanted))
            progress.update(task, completed=len(wanted) - len(missing))
            here = min(count, len(missing))
            workers = processes(job, here) if dask is None else cluster(job, dask)
            with workers as (executor, args):
                for values, future in finished(executor, args, missing, interrupt):
                    try:
                        kept.add(values, future.result())
                    except RequestError as error:
                        errors[wanted.index(values)] = error.sentences
                    except (BrokenExecutor, CancelledError) as reason:
                        fail("sweep.error.worker", reason=type(reason).__name__)
                    progress.advance(task)
    cells = [Cell(values, kept.result(values), errors.get(i, {})) for i, values in enumerate(wanted)]
    if cells and len(errors) == len(cells):
        raise RequestError(dict(cells[0].error))
    return [cell for cell in cells if cell.result is not None or cell.error]
