"""An experiment's report as tables, bars and verdicts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli.bars import bar
from app.cli.pool_picture import COLOURS
from app.cli.terminal import Terminal

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from pycore.experiments.experiment import Experiment

_BAR_WIDTH = 32
_LEAST_BAR_WIDTH = 8
_BESIDE_BARS = 48  # columns that names and figures take


def show_result(experiment: "Experiment", report: dict, terminal: Terminal) -> None:
    """The whole report: question, settings, tables, charts, claims."""
    out = terminal.out
    out.print(terminal.text(experiment.key("title")), style="bold")
    out.print(terminal.text(experiment.key("question")))
    settings = ", ".join(f"{name} {_setting(value)}" for name, value in report["settings"].items())
    out.print(terminal.text("cli.experiment.settings", settings=settings), style="dim")
    for table in report["tables"]:
        out.print()
        out.print(terminal.text(table["key"]), style="bold")
        out.print(table_of(table, terminal))
    for chart in report["charts"]:
        out.print()
        out.print(terminal.text(chart["key"]), style="bold")
        out.print(chart_of(chart, terminal))
    out.print()
    out.print(terminal.text("cli.experiment.claims"), style="bold")
    for claim in report["claims"]:
        _show_claim(claim, terminal)
    failed = sum(not claim["holds"] for claim in report["claims"])
    verdict = "fail" if failed else "hold"
    out.print(terminal.text(f"cli.experiment.{verdict}", failed=failed, total=len(report["claims"])))


def _setting(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _show_claim(claim: dict, terminal: Terminal) -> None:
    from rich.padding import Padding
    from rich.text import Text

    mark = ("✓", "✗") if terminal.draws_blocks else ("+", "x")
    sentence = Text(f"{mark[0 if claim['holds'] else 1]} ", style="green" if claim["holds"] else "red")
    sentence.append(claim[terminal.lang], style="default")
    terminal.out.print(sentence)
    source = terminal.text("cli.experiment.source", source=terminal.text(claim["source"]))
    terminal.out.print(Padding(Text(source, style="dim"), (0, 0, 0, 2)))


def _named(key: str, unit: str, terminal: Terminal) -> str:
    """A column or an axis with its unit."""
    name = terminal.text(key)
    return f"{name} ({terminal.text(unit)})" if unit else name


def table_of(declared: dict, terminal: Terminal) -> "Table":
    """Rows under columns, or the other way round where the terminal is too narrow for so many columns."""
    columns = declared["columns"]
    headings = [_named(column["key"], column["unit"], terminal) for column in columns]
    rows = [
        [_cell(value, column["kind"], terminal) for value, column in zip(row, columns, strict=True)]
        for row in declared["rows"]
    ]
    upright = _grid(headings, rows)
    options = terminal.out.options.update(max_width=1000)
    if upright.__rich_measure__(terminal.out, options).minimum <= terminal.out.width:
        return upright
    across = list(zip(headings, *rows, strict=True))
    return _grid(across[0], across[1:])


def _grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _cell(value: int | float | str | None, kind: str, terminal: Terminal) -> str:
    if value is None:
        return "–"
    return terminal.text(str(value)) if kind == "key" else f"{value:,}"


def chart_of(chart: dict, terminal: Terminal) -> "Table":
    """A bar for each value; the parts of a stacked bar lie in one line."""
    from rich.table import Table
    from rich.text import Text

    blocks = terminal.draws_blocks
    width = min(_BAR_WIDTH, max(_LEAST_BAR_WIDTH, terminal.out.width - _BESIDE_BARS))
    series = chart["series"]
    grid = Table.grid(padding=(0, 1, 0, 0))
    stacked = chart["kind"] == "stacked_bar"
    totals = [sum(each["values"][i] or 0 for each in series) for i in range(len(chart["x"]))]
    values = [value for each in series for value in each["values"] if value is not None]
    most = max(totals if stacked else values, default=0)
    unit = terminal.text(chart["y_unit"]) if chart["y_unit"] else ""
    for i, x in enumerate(chart["x"]):
        name = _cell(x, chart["x_kind"], terminal)
        if stacked:
            grid.add_row(name, _stack([each["values"][i] or 0 for each in series], most, width, blocks))
            continue
        for number, each in enumerate(series):
            value = each["values"][i]
            label = terminal.text(each["key"]) if len(series) > 1 else ""
            shown = f"{_cell(value, 'float', terminal)} {unit}".strip()
            line = Text(bar(value or 0, most, width, blocks), style=COLOURS[number % len(COLOURS)])
            grid.add_row("" if number else name, label, line, shown)
    if stacked:
        grid.add_row("", _legend([terminal.text(each["key"]) for each in series], blocks))
    return grid


_STACK = "█▓▒░·"
_ASCII_STACK = "#=+-."


def _stack(values: list[float], most: float, most_width: int, blocks: bool) -> "Text":
    """Parts one after the other, each in its look, so that they are told apart without colour."""
    from rich.text import Text

    line = Text()
    looks = _STACK if blocks else _ASCII_STACK
    end = drawn = 0.0
    for number, value in enumerate(values):
        end += value
        width = round(end / most * most_width) - int(drawn) if most else 0
        drawn += width
        line.append(looks[number % len(looks)] * width, style=COLOURS[number % len(COLOURS)])
    return line


def _legend(names: list[str], blocks: bool) -> "Text":
    from rich.text import Text

    looks = _STACK if blocks else _ASCII_STACK
    legend = Text()
    for number, name in enumerate(names):
        style = COLOURS[number % len(COLOURS)]
        legend.append(f"{looks[number % len(looks)]} ", style=style).append(f"{name}  ")
    return legend
