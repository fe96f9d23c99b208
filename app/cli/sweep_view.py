"""A sweep as a table, and as CSV."""

import csv
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from app.backend.replay import hung_notices
from app.cli.options import FLAGS, MANAGER, manager_of
from app.cli.replay_view import NONE, flat
from app.cli.terminal import Terminal

if TYPE_CHECKING:
    from app.cli.sweep import Cell

# Figures of a cell, by the last part of their text key, sweep.column.<name>.
COLUMNS = ("tokens", "ttft", "ttft_p99", "tpot", "tpot_p99", "preemptions", "rejected", "utilisation")
SHOWN = ("mean", "p99")  # of a cell's times


def show_sweep(cells: Sequence["Cell"], varied: Sequence[str], name: str, terminal: Terminal) -> None:
    """A row a cell: what was varied, then what came of it.

    Args:
        cells: those that are done.
        varied: keys of the settings that differ between them.
        name: of the trace.
        terminal: to draw on.
    """
    from rich import box
    from rich.table import Table

    out = terminal.out
    out.print(terminal.text("sweep.title", name=name, cells=len(cells)), style="bold")
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for key in varied:
        table.add_column(flag_of(key), justify="right")
    for column in COLUMNS:
        table.add_column(terminal.text(f"sweep.column.{column}"), justify="right")
    for cell in cells:
        words = [said(cell, key) for key in varied]
        table.add_row(*words, *(figures(cell.result, terminal) if cell.result else [NONE] * len(COLUMNS)))
    out.print(table)
    for sentence in remarks(cells, varied, terminal):
        terminal.note(sentence)


def cell_name(cell: "Cell", varied: Sequence[str]) -> str:
    """What tells a cell from the others."""
    return ", ".join(f"{flag_of(key)} {said(cell, key)}" for key in varied) or NONE


def remarks(cells: Sequence["Cell"], varied: Sequence[str], terminal: Terminal) -> list[str]:
    """Why cells could not be, and in which of them requests wait for ever."""
    sentences = []
    for cell in cells:
        notices = hung_notices(cell.result, cell.values) if cell.result else []
        reasons = [each.sentences for each in notices] if cell.result else [cell.error]
        sentences += [
            terminal.text("sweep.failed", cell=cell_name(cell, varied), reason=reason[terminal.lang])
            for reason in reasons
        ]
    return sentences


def flag_of(key: str) -> str:
    """How the option of a setting is spelled, without its dashes."""
    return FLAGS.get(key, MANAGER).removeprefix("--")


def said(cell: "Cell", key: str) -> str:
    """A cell's value of what was varied."""
    return str(cell.values[key]) if key in cell.values else manager_of(cell.values)


def figures(result: dict, terminal: Terminal) -> list[str]:
    """What a cell came to, one of COLUMNS each."""
    return [
        f"{result['tokens_per_second']:,.0f}",
        *(f"{result['ttft'][name] / 1e9:,.2f} s" if result["num_finished"] else NONE for name in SHOWN),
        *(f"{result['tpot'][name] / 1e6:,.1f} ms" if result["num_finished"] else NONE for name in SHOWN),
        f"{result['num_preemptions']:,}",
        f"{result['num_rejected']:,}",
        terminal.percent(result["utilisation"]),
    ]


def write_csv(cells: Sequence["Cell"], lang: str) -> str:
    """One row a cell, a column for each setting and figure; nested names are joined by dots."""
    rows = [
        {**cell.values, **(flat(cell.result) if cell.result else {}), "error": cell.error.get(lang, "")}
        for cell in cells
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = StringIO()
    writer = csv.DictWriter(table, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()
