"""A command's help: what it does, how it is called, its options, one page in the user's language."""

from io import StringIO
from shutil import get_terminal_size

import click

from app.cli.terminal import Terminal

WIDEST = 100  # columns; longer lines are hard to read


def help_page(command: click.Command, ctx: click.Context, terminal: Terminal) -> str:
    """The page, as wide as the terminal; Chinese characters count for two columns, as they are shown."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table

    page = StringIO()
    width = min(WIDEST, get_terminal_size().columns)
    console = Console(file=page, width=width, markup=False, highlight=False, emoji=False, color_system=None)

    def section(heading: str, rows: list[tuple[str, str]]) -> None:
        if not rows:
            return
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, overflow="fold")
        table.add_column(overflow="fold")
        for row in rows:
            table.add_row(*row)
        console.print(f"\n{terminal.text(heading)}")
        console.print(Padding(table, (0, 0, 0, 2)))

    pieces = " ".join(command.collect_usage_pieces(ctx)).replace(
        "[OPTIONS]", terminal.text("cli.help.any_options")
    )
    console.print(f"{terminal.text('cli.help.usage')} {ctx.command_path} {pieces}\n")
    console.print(terminal.text(command.help or ""))
    listed = command.abouts(ctx) if hasattr(command, "abouts") else []
    section("cli.help.commands", [(name, _first_sentence(terminal.text(about))) for name, about in listed])
    params = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    section(
        "cli.help.options",
        [("/".join(param.opts + param.secondary_opts), param.help or "") for param in params],
    )
    if command.epilog:
        console.print(f"\n{terminal.text(command.epilog)}")
    return page.getvalue().rstrip()


def _first_sentence(description: str) -> str:
    """Up to the first full stop, English or Chinese.

    >>> _first_sentence("Runs a load. Then shows it.")
    'Runs a load.'
    """
    ends = [description.find(stop) + 1 for stop in (". ", "。") if stop in description]
    return description[: min(ends)] if ends else description
