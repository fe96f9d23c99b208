"""`kvscope run`: a synthetic load, recorded whole, one step of it drawn."""

from typing import TYPE_CHECKING

import click

from app.cli.command import Command
from app.cli.options import checked, json_option, remark_on_idle, setting_options, whole_number
from app.cli.run_summary import COUNTS, WASTE, run_summary
from app.cli.terminal import Terminal

if TYPE_CHECKING:
    from rich.table import Table

LINES = 10  # of the table of steps, unless --every says otherwise
_MOST_STEPS = 1_000_000


def run_command(terminal: Terminal) -> Command:
    """The command."""
    return Command(
        "run",
        terminal,
        "cli.about.run",
        callback=lambda **given: run(terminal, **given),
        params=[
            *setting_options("simulate", terminal),
            click.Option(["--at"], help=terminal.text("cli.option.at")),
            click.Option(["--every"], help=terminal.text("cli.option.every")),
            json_option(terminal),
        ],
    )


def run(terminal: Terminal, at: str | None, every: str | None, as_json: bool, **given: object) -> None:
    """Runs, and shows or writes what came of it.

    Raises:
        RequestError: a setting is out of range, or the run has no such step.
    """
    from app.backend.handle import Handler  # the simulator is not needed for help

    if given["hold"] is not None:
        given["hold"] = int(given["hold"])
    settings = checked("simulate", given)
    whole_number("--at", at, 0, _MOST_STEPS)
    stride = whole_number("--every", every, 1, _MOST_STEPS)
    # The page's own door: whatever it shows for these settings, this shows.
    answer = Handler().handle({"kind": "simulate", "settings": settings})
    for remark in answer["notices"]:
        terminal.note(remark[terminal.lang])
    recording = answer["sources"]["recording"]
    step = whole_number("--at", at, 0, recording["steps"])
    # What contiguous memory has no use for was told with the notices, as far as it decides what runs.
    remark_on_idle({**given, "cache": None}, answer["settings"]["mode"], terminal)
    if as_json:
        summary = run_summary(recording)
        terminal.write_json(
            "run", {"settings": answer["settings"], "summary": summary, "recording": recording}
        )
        return
    show(recording, recording["steps"] if step is None else step, stride, terminal)


def show(recording: dict, step: int, stride: int | None, terminal: Terminal) -> None:
    """The picture of a step, what happened in it, the counters of some steps, and the summary.

    Args:
        recording: columns, see app.backend.columns.
        step: the one to draw.
        stride: every so many steps are a line of the table; None for about `LINES` lines.
        terminal: to draw on.
    """
    from app.cli.pool_picture import ASCII_GLYPHS, GLYPHS, pool_picture

    out, steps = terminal.out, recording["steps"]
    pool = {"blocks": recording["num_blocks"], "size": recording["block_size"], "step": step, "steps": steps}
    out.print(terminal.text(f"cli.run.title.{recording['mode']}", **pool), style="bold")
    out.print(pool_picture(recording, step, out.width, terminal.draws_blocks), soft_wrap=True)
    out.print(
        terminal.text("cli.run.legend", **(GLYPHS if terminal.draws_blocks else ASCII_GLYPHS)), style="dim"
    )
    out.print()
    events, starts = recording["events"], recording["frames"]["event_start"]
    sentences = events[terminal.lang][starts[step] : starts[step + 1]]
    out.print(terminal.text("cli.run.happened", step=step), style="bold")
    for sentence in sentences or [terminal.text("event.quiet" if step else "cli.run.before")]:
        out.print(f"  {sentence}")
    shown = sorted({*range(0, steps + 1, stride or max(1, steps // LINES)), step, steps})
    for table in counter_tables(recording, shown, terminal):
        out.print()
        out.print(table)
    for sentence in summary_sentences(recording, terminal):
        out.print(sentence)


def counter_tables(recording: dict, steps: list[int], terminal: Terminal) -> list["Table"]:
    """The counters of some steps: in one table where the terminal is wide enough for it, else in two."""
    from rich import box
    from rich.table import Table

    def table(names: tuple[str, ...]) -> Table:
        made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        for heading in ("step", *names):
            made.add_column(terminal.text(f"cli.counter.{heading}"), justify="right", no_wrap=True)
        for step in steps:
            made.add_row(
                *(f"{value:,}" for value in (step, *(recording["frames"][name][step] for name in names)))
            )
        return made

    waste = (*WASTE, "cached") if "cached" in recording["frames"] else WASTE
    whole = table((*COUNTS, *waste))
    needed = whole.__rich_measure__(terminal.out, terminal.out.options.update(max_width=1000)).maximum
    return [whole] if needed <= terminal.out.width else [table(COUNTS), table(waste)]


def summary_sentences(recording: dict, terminal: Terminal) -> list[str]:
    """The run in a few sentences."""
    summary = run_summary(recording)
    fields = {
        **{name: summary[name] for name in ("steps", "max_running", *COUNTS)},
        "utilisation": terminal.percent(summary["utilisation"]),
        "waste_of_held": terminal.percent(summary["waste_of_held"]),
        "mean_running": f"{summary['mean_running']:.1f}",
    }
    parts = ["memory", "requests"]
    if "cached" in recording["frames"]:
        parts.append("cache")
        last = recording["frames"]
        fields |= {"found": last["found"][-1], "cached": last["cached"][-1] // recording["block_size"]}
    return ["", *(terminal.text(f"cli.run.summary.{part}", **fields) for part in parts)]
