"""A bar on stderr that follows a piece of work."""

from collections.abc import Generator
from typing import TYPE_CHECKING, TypeVar

from app.cli.interrupt import Interrupt
from app.cli.terminal import Terminal

if TYPE_CHECKING:
    from rich.progress import Progress

Result = TypeVar("Result")


def progress_bar(terminal: Terminal, quiet: bool) -> "Progress":
    """A place for bars; nothing is shown if `quiet`, or where stderr is no terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    hidden = quiet or not terminal.err.is_terminal
    return Progress(*columns, console=terminal.err, disable=hidden, transient=True)


def followed(
    progress: "Progress",
    label: str,
    work: Generator[tuple[int, int], None, Result],
    interrupt: Interrupt | None = None,
) -> Result | None:
    """Does the work while the bar follows it; its result, None if it was interrupted."""
    task = progress.add_task(label, total=None)
    try:
        while interrupt is None or not interrupt.asked:
            done, total = next(work)
            progress.update(task, completed=done, total=max(1, total))
    except StopIteration as end:
        return end.value
    finally:
        work.close()
        progress.remove_task(task)
    return None
