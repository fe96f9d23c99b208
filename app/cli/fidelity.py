"""`kvscope fidelity`: runs that were measured on real GPUs, predicted, with the error shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from app.backend.settings import shorten
from app.cli.command import Command
from app.cli.failure import INTERRUPTED, OK, fail
from app.cli.fidelity_view import document, fidelity_report, show_judged
from app.cli.html_report import html_option, require_writable, write_report
from app.cli.interrupt import Interrupt
from app.cli.options import json_option
from app.cli.progress import followed, progress_bar
from app.cli.terminal import Terminal
from pycore.capacity import WeightsDoNotFitError
from pycore.config import ConfigError
from pycore.fidelity.comparison import Compared, compare
from pycore.fidelity.factors import RUNS, Fitted, factors_for, is_same_run
from pycore.fidelity.fit import fit
from pycore.fidelity.measured_run import MeasuredRun, Outcome
from pycore.fidelity.prediction import StalledError, cost_model, predicting
from pycore.fidelity.run_files import FILES, REQUESTS, REQUIRED, RunFileError, read_run
from pycore.specs import DeploymentError
from pycore.specs.catalogue import UnknownNameError

_MAX_BYTES = 1 << 28  # of one file
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Judged:
    """A run, and what is predicted of it.

    Attributes:
        run: as measured.
        fitted: the factors of the prediction.
        is_own: whether they were fitted on this very run.
        predicted: what the simulator says.
        rows: both side by side.
    """

    run: MeasuredRun
    fitted: Fitted
    is_own: bool
    predicted: Outcome
    rows: Sequence[Compared]


def fidelity_command(terminal: Terminal) -> Command:
    """The command."""
    fit_on = click.Option(["--fit-on"], metavar="RUN", help=terminal.text("fidelity.option.fit_on"))
    return Command(
        "fidelity",
        terminal,
        "cli.about.fidelity",
        callback=lambda **given: run_fidelity(terminal, **given),
        epilog="fidelity.help",
        params=[
            click.Argument(["runs"], nargs=-1, metavar="[RUN]…"),
            fit_on,
            json_option(terminal),
            html_option(terminal),
        ],
    )


def run_fidelity(
    terminal: Terminal, runs: Sequence[str], fit_on: str | None, as_json: bool, html: str | None
) -> int:
    """Predicts each run, and shows or writes how far off that is.

    Raises:
        RequestError: a run that cannot be read or replayed.
    """
    require_writable(html)
    judged: list[Judged] = []
    with progress_bar(terminal, quiet=as_json) as progress, Interrupt() as interrupt:
        named = [read(folder) for name in runs or RUNS for folder in _folders(name)]
        chosen = None
        if fit_on is not None:
            base = read(fit_on)
            chosen = base, Fitted(base.name, _explained(base, lambda: fit(base)))
        for run in named:
            fitted = chosen[1] if chosen else factors_for(run)
            is_own = chosen is not None and is_same_run(run, chosen[0])

            def predict(run: MeasuredRun = run, fitted: Fitted = fitted) -> Outcome | None:
                work = predicting(run, cost_model(run.settings, fitted.efficiency))
                return followed(progress, run.name, work, interrupt)

            predicted = _explained(run, predict)
            if predicted is None:
                break
            judged.append(Judged(run, fitted, is_own, predicted, compare(run.measured, predicted)))
    if html is not None and judged:
        write_report(html, fidelity_report(judged, terminal), terminal)
    if as_json:
        terminal.write_json("fidelity", {"runs": [document(each) for each in judged]})
    else:
        for each in judged:
            show_judged(each, terminal)
    if len(judged) < len(named):
        terminal.note(terminal.text("cli.partial"))
        return INTERRUPTED
    return OK


def _folders(name: str) -> list[str]:
    """The folder itself, or those in it that are runs, by name."""
    folder = Path(name)
    if not folder.is_dir() or (folder / REQUESTS).exists():
        return [name]
    return sorted(str(each.parent) for each in folder.glob(f"*/{REQUESTS}")) or [name]


def read(name: str) -> MeasuredRun:
    """A run: a folder, or the name of one that is carried along.

    Raises:
        RequestError: there is none, or it says something that cannot be used.
    """
    folder, shown = Path(name), shorten(name)
    if name in RUNS and not folder.exists():
        return RUNS[name]()
    if not folder.is_dir():
        fail("fidelity.error.folder", path=shown, known=", ".join(RUNS))
    texts = {}
    for file in FILES:
        path = folder / file
        try:
            if path.exists():
                if path.stat().st_size > _MAX_BYTES:
                    fail("fidelity.error.size", path=shorten(str(path)), most=_MAX_BYTES)
                texts[file] = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as reason:
            why = getattr(reason, "strerror", None) or getattr(reason, "reason", str(reason))
            fail("cli.error.unreadable", path=shorten(str(path)), reason=why)
    for file in REQUIRED:
        if file not in texts:
            fail("fidelity.error.missing", path=shown, file=file)
    own_name = folder.resolve().name
    try:
        return read_run(own_name, texts)
    except RunFileError as error:
        fail(
            "fidelity.error.file",
            path=shown,
            file=error.file,
            where=error.where,
            value=shorten(error.value),
            expected=error.expected,
        )
    except UnknownNameError as error:
        kind = f"fidelity.error.{error.kind}"
        fail(kind, path=shown, value=shorten(error.name), near=", ".join(error.near))
    except DeploymentError as error:
        fail(
            "fidelity.error.file",
            path=shown,
            file="meta.json",
            where=error.setting,
            value=error.value,
            expected=error.expected,
        )


def _explained(run: MeasuredRun, work: Callable[[], Found]) -> Found:
    """What `work` returns.

    Raises:
        RequestError: the run cannot be replayed.
    """
    try:
        return work()
    except WeightsDoNotFitError as error:
        needed, usable = (f"{size / 1e9:.1f}" for size in (error.needed, error.usable))
        fail("fidelity.error.weights", run=run.name, needed=needed, usable=usable)
    except StalledError as error:
        fail("fidelity.error.stalled", run=run.name, ended=error.num_ended, total=error.num_requests)
    except ConfigError as error:
        fail(
            "fidelity.error.file",
            path=run.name,
            file="meta.json",
            where=error.setting,
            value=shorten(error.value),
            expected=error.expected,
        )
