"""`kvscope sizing`: how many concurrent users fit, with the sum shown."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from app.cli.bars import bar
from app.cli.command import Command
from app.cli.options import checked, json_option, setting_options
from app.cli.terminal import Terminal

if TYPE_CHECKING:
    from rich.table import Table

_BAR_WIDTH = 32


def sizing_command(terminal: Terminal) -> Command:
    """The command."""
    return Command(
        "sizing",
        terminal,
        "cli.about.sizing",
        callback=lambda **given: run_sizing(terminal, **given),
        params=[*setting_options("sizing", terminal), json_option(terminal)],
    )


def run_sizing(terminal: Terminal, as_json: bool, **given: object) -> None:
    """Works it out, and shows or writes it.

    Raises:
        RequestError: a name that is unknown, a setting that will not do, or weights that do not fit.
    """
    from app.backend.deployment import with_spec_names
    from app.backend.settings import normalise
    from app.backend.sizing import sizing

    settings, _ = normalise("sizing", checked("sizing", with_spec_names(given)))
    answer = sizing(settings)
    if answer["settings"]["ctx"] > answer["max_context"]:
        terminal.note(terminal.text("sizing.note.context", limit=answer["max_context"], **_names(answer)))
    if as_json:
        terminal.write_json("sizing", answer)
    else:
        show(answer, terminal)


def _names(answer: Mapping) -> dict[str, object]:
    return {key: answer["settings"][key] for key in ("model", "gpu", "tp")}


def show(answer: Mapping, terminal: Terminal) -> None:
    """The answer in one sentence, then where the memory goes, then the sum."""
    out, settings, kv = terminal.out, answer["settings"], answer["kv"]
    out.print(terminal.text("sizing.title", **_names(answer)), style="bold")
    said = "sizing.answer" if answer["users"] else "sizing.answer.none"
    fields = {"users": answer["users"], "context": settings["ctx"], "tokens": answer["num_tokens"]}
    out.print(terminal.text(said, **fields), style="bold")
    out.print()
    out.print(_memory(answer, terminal))
    out.print()
    form = "latent" if not kv["heads"] else "heads"
    out.print(terminal.text(f"sizing.token.{form}", **kv))
    sizes = {"blocks": answer["num_blocks"], "size": settings["bs"], "tokens": answer["num_tokens"]}
    out.print(
        terminal.text("sizing.blocks", space=answer["terms"]["kv_space"], each=kv["bytes_per_token"], **sizes)
    )
    if kv["window"]:
        out.print(terminal.text("sizing.window", **kv))
    out.print(
        terminal.text(
            "sizing.users", users=answer["users"], context=settings["ctx"], each=answer["bytes_per_user"]
        )
    )
    out.print()
    more = round(100 * (answer["textbook_blocks"] / answer["num_blocks"] - 1))
    out.print(terminal.text("sizing.textbook", blocks=answer["textbook_blocks"], more=more), style="dim")
    for kind, source in answer["sources"].items():
        out.print(terminal.text(f"sizing.source.{kind}", source=source), style="dim")


def _memory(answer: Mapping, terminal: Terminal) -> "Table":
    """Where one GPU's memory goes: a row each, with a bar."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(justify="right")
    grid.add_column()
    memory = answer["memory"]
    grid.add_row(terminal.text("sizing.term.memory"), _gigabytes(memory), "")
    for name, size in answer["terms"].items():
        sign = "=" if name == "kv_space" else "−"
        drawn = bar(size, memory, _BAR_WIDTH, terminal.draws_blocks)
        grid.add_row(terminal.text(f"sizing.term.{name}"), f"{sign} {_gigabytes(size)}", drawn)
    return grid


def _gigabytes(size: int) -> str:
    """Bytes as they are shown.

    >>> _gigabytes(1_250_000_000)
    '1.25 GB'
    """
    return f"{size / 1e9:,.2f} GB"
