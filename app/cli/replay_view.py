"""Replays as tables and lines of little bars, and as CSV."""

import csv
from collections.abc import Sequence
from dataclasses import asdict
from io import StringIO
from typing import TYPE_CHECKING

from app.cli.bars import sparkline
from app.cli.terminal import Terminal
from pycore.replay_result import ReplayResult
from pycore.workload.trace import Trace

if TYPE_CHECKING:
    from rich.table import Table

    from app.cli.replay import ReplayRun

PARTS = ("real", "reserved", "internal", "external", "usable", "cached")
REASONS = ("context", "pool")
NONE = "–"
TIMES = ("queueing", "ttft", "tpot", "end_to_end", "normalized")
_LINE_WIDTH = 60  # characters of a time line at most
_LABEL_WIDTH = 32


# Rows of the result, by the last part of their text key, replay.field.<name>.
ROWS = (
    "requests_per_second",
    "tokens_per_second",
    "attainment",
    "goodput",
    "utilisation",
    *PARTS[1:],
    "max_real",
    "mean_running",
    "max_running",
    "mean_waiting",
    "max_waiting",
    "num_finished",
    "num_rejected",
    *(f"rejected.{reason}" for reason in REASONS),
    "num_hung",
    "num_preemptions",
    "num_recomputed",
    "fragmented_steps",
    "num_steps",
    "end_ns",
)


def figure(name: str, result: ReplayResult, terminal: Terminal) -> str:
    """One of ROWS as it is shown."""
    if name in PARTS:
        return terminal.percent(result.mean[name] / result.capacity)
    if name.startswith("rejected."):
        return f"{result.rejected.get(name.removeprefix('rejected.'), 0):,}"
    value = getattr(result, name)
    match name:
        case "utilisation" | "attainment":
            return terminal.percent(value)
        case "max_real":
            return terminal.percent(value / result.capacity)
        case "end_ns":
            return seconds(value)
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def seconds(ns: float) -> str:
    """A time in seconds, or in milliseconds if it is less than one.

    >>> seconds(1_250_000_000), seconds(12_500_000)
    ('1.25 s', '12.5 ms')
    """
    return f"{ns / 1e9:,.2f} s" if ns >= 1e9 else f"{ns / 1e6:,.1f} ms"


def time_of(result: ReplayResult, name: str, part: str) -> str:
    """One figure of TIMES as it is shown: a dash where no request has finished, so that nobody reads a 0."""
    return seconds(getattr(getattr(result, name), part)) if result.num_finished else NONE


def show_replays(trace: Trace, runs: Sequence["ReplayRun"], terminal: Terminal) -> None:
    """One column a replay."""
    out = terminal.out
    out.print(terminal.text("cli.replay.title", name=trace.name, requests=len(trace.requests)), style="bold")
    for sentence in pool_sentences(runs[0], terminal):
        out.print(sentence)
    for run in runs:
        if run.partial:
            ended = {
                "done": run.result.num_finished + run.result.num_rejected,
                "total": run.result.num_requests,
            }
            out.print(
                terminal.text("cli.replay.partial", setup=setup_title(run, terminal), **ended), style="bold"
            )
    out.print()
    out.print(_figures(runs, terminal))
    for run in runs:
        prefix = run.document.get("prefix")
        if prefix is not None:
            shown = {"share": terminal.percent(prefix["hit_rate"]), "setup": setup_title(run, terminal)}
            out.print()
            out.print(terminal.text("cli.replay.prefix", **prefix, **shown))
    for run in runs:
        out.print()
        out.print(_times(run, terminal))
    scales = _scales(runs)
    for run in runs:
        out.print()
        _show_time_line(run, scales, terminal)


def pool_sentences(run: "ReplayRun", terminal: Terminal) -> list[str]:
    """Where the pool, the clock and the SLO of a replay come from."""
    values = run.values
    fields = {
        "blocks": run.result.capacity // values["bs"],
        "size": values["bs"],
        **{key: values[key] for key in ("model", "gpu", "tp")},
    }
    pool = terminal.text(f"replay.pool.{'set' if values['blocks'] else 'default'}", **fields)
    if values["stepms"]:
        clock = terminal.text("replay.step_time", ms=f"{values['stepms']:g}")
    else:
        clock = terminal.text("replay.step_roofline", **fields)
    slo = {"ttft": f"{values['slottft']:g}", "tpot": f"{values['slotpot']:g}"}
    return [pool, clock, terminal.text("replay.slo", **slo)]


def setup_title(run: "ReplayRun", terminal: Terminal) -> str:
    """What a replay's column is called."""
    if run.values["mode"] == "paged":
        return terminal.text("cli.setup.paged")
    return terminal.text(f"cli.setup.{run.values['res']}")


def _table(title: str, headings: Sequence[str]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(title, max_width=_LABEL_WIDTH)
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _figures(runs: Sequence["ReplayRun"], terminal: Terminal) -> "Table":
    """Figures under each other; reasons of rejection, and those that hang, only where there were any."""
    table = _table(terminal.text("cli.replay.figure"), [setup_title(run, terminal) for run in runs])
    for name in ROWS:
        if name == "cached" and not any(run.result.mean[name] for run in runs):
            continue
        reason = name.partition("rejected.")[2]
        if reason and not any(reason in run.result.rejected for run in runs):
            continue
        if name == "num_hung" and not any(run.result.num_hung for run in runs):
            continue
        table.add_row(
            terminal.text(f"replay.field.{name}"), *(figure(name, run.result, terminal) for run in runs)
        )
    return table


def _times(run: "ReplayRun", terminal: Terminal) -> "Table":
    names = list(asdict(run.result.ttft))
    table = _table(setup_title(run, terminal), [terminal.text(f"replay.spread.{name}") for name in names])
    for name in TIMES:
        table.add_row(
            terminal.text(f"replay.field.{name}"), *(time_of(run.result, name, each) for each in names)
        )
    return table


def _show_time_line(run: "ReplayRun", most: dict[str, float], terminal: Terminal) -> None:
    """Running, waiting and the real share over the run; a stretch of equally many steps a character.

    Args:
        run: the replay.
        most: what the highest bar stands for, by name of the series.
        terminal: to draw on.
    """
    from rich.cells import cell_len

    out = terminal.out
    width = min(_LINE_WIDTH, max(10, out.width - 30))
    out.print(terminal.text("cli.replay.time_line", setup=setup_title(run, terminal)), style="bold")
    labels = {name: terminal.text(f"replay.field.{name}") for name in most}
    widest = max(map(cell_len, labels.values()))
    for name, label in labels.items():
        bars = sparkline(run.result.time_line[name], most[name], width, terminal.draws_blocks)
        top = terminal.percent(1) if name == "real" else f"{most[name]:,.0f}"
        out.print(f"{label}{' ' * (widest - cell_len(label))}  {bars}  0 … {top}", no_wrap=True)


def _scales(runs: Sequence["ReplayRun"]) -> dict[str, float]:
    """What the highest bar of each time line stands for: the same in all replays, so that they compare."""
    scales: dict[str, float] = {
        name: max((max(run.result.time_line[name], default=0) for run in runs), default=0)
        for name in ("running", "waiting")
    }
    return {**scales, "real": runs[0].result.capacity}


def write_csv(runs: Sequence["ReplayRun"]) -> str:
    """One row a replay, a column for each setting and figure; nested names are joined by dots."""
    rows = [{**run.values, "partial": int(run.partial), **flat(run.document)} for run in runs]
    table = StringIO()
    writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()


def flat(figures: dict) -> dict[str, object]:
    """The figures without the time line, one level deep."""
    flat: dict[str, object] = {}
    for name, value in figures.items():
        if name == "time_line":
            continue
        if name == "rejected":
            value = {reason: value.get(reason, 0) for reason in REASONS}
        if isinstance(value, dict):
            flat |= {f"{name}.{part}": figure for part, figure in value.items()}
        else:
            flat[name] = value
    return flat
