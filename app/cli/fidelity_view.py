"""A predicted run in the terminal, as JSON, and as a report: an error table, and two time lines overlaid."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli.bars import sparkline
from app.cli.terminal import Terminal
from pycore.fidelity.comparison import Compared, overlaid
from pycore.fidelity.measured_run import Load, Outcome
from pycore.fidelity.prediction import least_ns, num_blocks

if TYPE_CHECKING:
    from rich.table import Table

    from app.cli.fidelity import Judged

_WIDTH = 64  # of a line of bars
_LEAST_WIDTH = 16
_BESIDE = 32  # columns that the names and the most take
_LOADS = ("running", "waiting")
_REPORT_POINTS = 600
_SECONDS = ("makespan", "end_to_end", "ttft")


def show_judged(judged: "Judged", terminal: Terminal) -> None:
    """One run: what it was, how far off the prediction is, and who ran and waited when."""
    out, say = terminal.out, terminal.text
    out.print(say("fidelity.title", **_names(judged)), style="bold")
    out.print(_factors(judged, terminal))
    if judged.run.source:
        out.print(say("fidelity.source", source=judged.run.source), style="dim")
    if judged.run.settings.num_blocks is None:
        out.print(say("fidelity.estimated", blocks=num_blocks(judged.run.settings)), style="dim")
    out.print()
    out.print(_errors(judged.rows, terminal))
    out.print()
    for name, drawn in _time_lines(judged, terminal):
        out.print(f"{name}  {drawn}", no_wrap=True, overflow="ignore")
    least_makespan, least_tpot = least_ns(judged.run, judged.predicted)
    bound = {"makespan": f"{least_makespan / 1e9:.1f}", "tpot": f"{least_tpot / 1e6:.1f}"}
    out.print(say("fidelity.bound", **bound), style="dim")
    out.print(verdict(judged, terminal), style="bold")
    out.print()


def verdict(judged: "Judged", terminal: Terminal) -> str:
    """Whether the goals are reached, in one sentence."""
    missed = [each for each in judged.rows if each.reached is False]
    if judged.is_own:
        return terminal.text("fidelity.own")
    if not missed:
        return terminal.text("fidelity.reached")
    names = terminal.text("fidelity.and").join(_name(each, terminal) for each in missed)
    return terminal.text("fidelity.missed", names=names)


def _names(judged: "Judged") -> dict[str, object]:
    deployment = judged.run.settings.deployment
    return {
        "run": judged.run.name,
        "model": deployment.model.name,
        "gpu": deployment.gpu.name,
        "tp": deployment.tp,
        "requests": len(judged.run.measured.requests),
    }


def _factors(judged: "Judged", terminal: Terminal) -> str:
    efficiency = judged.fitted.efficiency
    shares = {name: f"{getattr(efficiency, name) / 10:.1f}" for name in ("mfu", "mbu")}
    return terminal.text("fidelity.factors", fitted_on=judged.fitted.run, **shares)


def _name(row: Compared, terminal: Terminal) -> str:
    quantity = terminal.text(f"fidelity.quantity.{row.quantity}")
    if row.statistic == "total":
        return quantity
    return f"{quantity} {terminal.text(f'fidelity.statistic.{row.statistic}')}"


def _figure(quantity: str, value: float) -> str:
    """A figure with its unit.

    >>> _figure("tpot", 32_446_637), _figure("makespan", 183_567_000_000), _figure("running", 32.34)
    ('32.4 ms', '183.6 s', '32.3')
    """
    if quantity == "tpot" or (quantity in _SECONDS and value < 10**9):
        return f"{value / 1e6:,.1f} ms"
    if quantity in _SECONDS:
        return f"{value / 1e9:,.1f} s"
    return f"{value:,.1f}"


def _cells(row: Compared, terminal: Terminal) -> tuple[str, ...]:
    error = "–" if row.error is None else f"{row.error:+.1f} %"
    goal = "" if row.goal is None else f"± {row.goal} %"
    both = (_figure(row.quantity, value) for value in (row.measured, row.predicted))
    return (_name(row, terminal), *both, error, goal)


def _headings(terminal: Terminal) -> tuple[str, ...]:
    parts = ("figure", "measured", "predicted", "error", "goal")
    return tuple(terminal.text(f"fidelity.column.{part}") for part in parts)


def _errors(rows: Sequence[Compared], terminal: Terminal) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for number, heading in enumerate(_headings(terminal)):
        table.add_column(heading, justify="right" if number else "left")
    for row in rows:
        style = None if row.reached is None else "green" if row.reached else "red"
        table.add_row(*_cells(row, terminal), style=style)
    return table


def _time_lines(judged: "Judged", terminal: Terminal) -> list[tuple[str, str]]:
    """A line of little bars for each load, measured and predicted below each other on the same scale."""
    width = min(_WIDTH, max(_LEAST_WIDTH, terminal.out.width - _BESIDE))
    _, lines = overlaid((judged.run.measured.time_line, judged.predicted.time_line), 10**6)
    kinds = ("measured", "predicted")
    drawn = []
    for i, load in enumerate(_LOADS):
        most = max((each[i] for line in lines for each in line), default=0)
        for kind, line in zip(kinds, lines, strict=True):
            name = terminal.text(f"fidelity.line.{load}.{kind}")
            values = [each[i] for each in line]
            bars = sparkline(values, most, width, terminal.draws_blocks) if values else ""
            drawn.append((name, f"{bars}  {terminal.text('fidelity.most', most=max(values, default=0))}"))
    return drawn


def document(judged: "Judged") -> dict:
    """One run as plain JSON; times are in ns."""
    settings, efficiency = judged.run.settings, judged.fitted.efficiency
    least_makespan, least_tpot = least_ns(judged.run, judged.predicted)
    return {
        **_names(judged),
        "source": judged.run.source,
        "settings": {
            "max_num_seqs": settings.max_num_seqs,
            "token_budget": settings.token_budget,
            "num_blocks": num_blocks(settings),
            "blocks_stated": settings.num_blocks is not None,
            "block_size": settings.block_size,
            "prefix_caching": settings.prefix_caching,
            "scheduled_ahead": settings.scheduled_ahead,
        },
        "fitted_on": judged.fitted.run,
        "fitted_on_this_run": judged.is_own,
        "efficiency": {name: getattr(efficiency, name) for name in ("mfu", "mbu", "overhead_ns")},
        "figures": [
            {
                "quantity": row.quantity,
                "statistic": row.statistic,
                "measured": row.measured,
                "predicted": row.predicted,
                "error_percent": row.error,
                "goal_percent": row.goal,
                "reached": row.reached,
            }
            for row in judged.rows
        ],
        "least": {"makespan": least_makespan, "tpot": least_tpot},
        "time_line": {
            "measured": _columns(judged.run.measured),
            "predicted": _columns(judged.predicted),
        },
    }


def _columns(outcome: Outcome) -> dict[str, list[int]]:
    return {name: [getattr(each, name) for each in outcome.time_line] for name in ("now_ns", *_LOADS)}


def fidelity_report(runs: Sequence["Judged"], terminal: Terminal) -> str:
    """All runs as a page of charts and tables."""
    from app.frontend.report_file import Lines, Table, report_file

    say = terminal.text
    charts, tables, lead = [], [], []
    for judged in runs:
        title = say("fidelity.title", **_names(judged))
        lead += [title, _factors(judged, terminal), verdict(judged, terminal)]
        lines = {
            "measured": judged.run.measured.time_line,
            "predicted": judged.predicted.time_line,
        }
        for load in _LOADS:
            series = {say(f"fidelity.column.{kind}"): _series(line, load) for kind, line in lines.items()}
            chart_title = f"{judged.run.name}: {say(f'fidelity.quantity.{load}')}"
            charts.append(Lines(chart_title, say("fidelity.seconds"), say("report.requests"), series))
        for quantity in ("ttft", "tpot"):
            series = {
                say(f"fidelity.column.{kind}"): _ranked(outcome, quantity)
                for kind, outcome in (("measured", judged.run.measured), ("predicted", judged.predicted))
            }
            chart_title = f"{judged.run.name}: {say(f'fidelity.quantity.{quantity}')}"
            charts.append(Lines(chart_title, say("fidelity.share"), say("fidelity.seconds"), series))
        rows = [_cells(row, terminal) for row in judged.rows]
        tables.append(Table(title, _headings(terminal), rows))
    return report_file(say("fidelity.report"), terminal.lang, lead, charts, tables)


def _series(line: Sequence[Load], load: str) -> tuple[list[float], list[float]]:
    shown = line[:: max(1, len(line) // _REPORT_POINTS)]
    return [each.now_ns / 1e9 for each in shown], [getattr(each, load) for each in shown]


def _ranked(outcome: Outcome, quantity: str) -> tuple[list[float], list[float]]:
    """A time of each request in seconds, from the shortest on, over the share of requests that are there."""
    found = (getattr(each, f"{quantity}_ns") for each in outcome.requests)
    ordered = sorted(ns for ns in found if ns is not None)
    shown = range(0, len(ordered), max(1, len(ordered) // _REPORT_POINTS))
    return [100 * (i + 1) / len(ordered) for i in shown], [ordered[i] / 1e9 for i in shown]
