"""`kvscope capacity`: the largest rate of requests at which a trace stays inside an SLO."""

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from app.backend.replay import make_replay, running
from app.backend.settings import Value
from app.cli.bars import bar
from app.cli.command import Command
from app.cli.failure import CLAIM_FAILED, OK, fail
from app.cli.interrupt import Interrupt
from app.cli.options import (
    all_settings,
    json_option,
    keep_good_option,
    manager_option,
    remark_on_idle,
    setting_options,
    whole_number,
)
from app.cli.progress import followed, progress_bar
from app.cli.replay_view import time_of
from app.cli.terminal import Terminal
from app.cli.trace_source import read_source, trace_document
from pycore.largest_rate import PER_MILLE, LargestRate, Probe, rates_to_try
from pycore.replay_result import ReplayResult
from pycore.request import Request
from pycore.workload.poisson import SHAREGPT

if TYPE_CHECKING:
    from rich.table import Table

NS_PER_S = 10**9
PER_CENT = 10  # thousandths
BUILT_IN = "sharegpt"
REQUESTS = 400  # of the built-in load
SEED = 5
LOWEST, HIGHEST = 10, 1_000_000  # thousandths of a request a second
_BAR_WIDTH = 16
_NOT_HERE = ("speed", "stepms", "seed")  # the rate is what is searched, in real time


def capacity_command(terminal: Terminal) -> Command:
    """The command."""

    def option(name: str) -> click.Option:
        return click.Option([f"--{name}"], help=terminal.text(f"capacity.option.{name}"))

    settings = [
        each
        for each in setting_options("replay", terminal, no_default=("limit",))
        if each.name not in _NOT_HERE
    ]
    return Command(
        "capacity",
        terminal,
        "cli.about.capacity",
        callback=lambda **given: run_capacity(terminal, **given),
        epilog="capacity.help",
        params=[
            click.Argument(["trace"], required=False),
            *settings,
            manager_option(terminal),
            option("share"),
            option("tolerance"),
            keep_good_option(terminal),
            json_option(terminal),
        ],
    )


def run_capacity(
    terminal: Terminal,
    trace: str | None,
    share: str | None,
    tolerance: str | None,
    keep_good: bool,
    as_json: bool,
    **given: object,
) -> int:
    """Replays the load at one rate after another, and shows or writes what was found.

    Returns:
        The exit code: 1 if no rate meets the SLO.

    Raises:
        RequestError: a setting is out of range, the file gives no trace, or its arrivals make no rate.
    """
    wanted = PER_CENT * (whole_number("--share", share, 1, 100) or 90)
    width = PER_CENT * (whole_number("--tolerance", tolerance, 1, 100) or 5)
    values = all_settings("replay", given)
    limit = values["limit"] if given["limit"] is not None else None
    remark_on_idle(given, values["mode"], terminal)
    with progress_bar(terminal, quiet=as_json) as progress, Interrupt() as interrupt:
        if trace is None:
            load, document = _built_in(limit or REQUESTS), {"load": BUILT_IN, "requests": limit or REQUESTS}
        else:
            rows = read_source(trace, limit, keep_good, progress, terminal)
            load, document = rows.requests, trace_document(rows)
        rate = own_rate(load)
        probes = _search(load, rate, values, wanted, width)
        found = followed(progress, terminal.text("capacity.progress"), probes, interrupt)
    if found is None:
        raise click.Abort
    if as_json:
        answer = {
            "settings": values,
            "share": wanted / PER_MILLE,
            "load_rate": rate / PER_MILLE,
            "rate": found.rate / PER_MILLE,
            "not_sustained": None if found.below is None else found.below / PER_MILLE,
            "steady": found.steady,
            "probes": [
                {"rate": each.rate / PER_MILLE, "sustained": each.sustained, **_figures(each.result)}
                for each in found.probes
            ],
        }
        terminal.write_json("capacity", {**document, **answer})
    else:
        _show(found, rate, values, terminal)
    return OK if found.rate else CLAIM_FAILED


def own_rate(requests: Sequence[Request]) -> int:
    """At which rate they arrive, in thousandths of a request a second.

    Raises:
        RequestError: all arrive at the same time.
    """
    span_ns = max(each.arrival_ns for each in requests) - min(each.arrival_ns for each in requests)
    if not span_ns:
        fail("capacity.error.no_rate")
    return max(1, (len(requests) - 1) * NS_PER_S * PER_MILLE // span_ns)


def _built_in(num: int) -> list[Request]:
    return list(SHAREGPT.requests(SEED, num, rate=1))


def _search(
    requests: Sequence[Request], rate: int, values: Mapping[str, Value], share: int, tolerance: int
) -> Generator[tuple[int, int], None, LargestRate]:
    """Searches in slices; yields requests that have ended, and all, of the rate that is tried."""
    search = rates_to_try(
        start=max(LOWEST, min(HIGHEST, rate)), lowest=LOWEST, share=share, tolerance=tolerance
    )
    tried = next(search)
    while True:
        replay = make_replay({**values, "speed": tried / rate}, requests)
        yield from running(replay)
        try:
            tried = search.send(replay.result())
        except StopIteration as end:
            return end.value


def _figures(result: ReplayResult) -> dict[str, float]:
    """What a probe comes to, in seconds, shares and amounts a second."""
    return {
        "attainment": result.attainment,
        "goodput": result.goodput,
        "tokens_per_second": result.tokens_per_second,
        "ttft_p90_s": result.ttft.p90 / NS_PER_S,
        "tpot_p90_s": result.tpot.p90 / NS_PER_S,
        "utilisation": result.utilisation,
    }


def _show(found: LargestRate, rate: int, values: Mapping[str, Value], terminal: Terminal) -> None:
    """The answer in a sentence, then every rate that was tried with a bar."""
    out = terminal.out
    fields = {"rate": f"{found.rate / PER_MILLE:,.2f}", "share": f"{found.share / 10:g}"}
    fields |= {"ttft": f"{values['slottft']:g}", "tpot": f"{values['slotpot']:g}"}
    if not found.rate:
        best = terminal.percent(found.best_attainment)
        out.print(terminal.text("capacity.none", best=best, **fields), style="bold")
    elif found.below is None:
        out.print(terminal.text("capacity.all", **fields), style="bold")
    else:
        below = f"{found.below / PER_MILLE:,.2f}"
        out.print(terminal.text("capacity.answer", below=below, **fields), style="bold")
    out.print(terminal.text("capacity.own", rate=f"{rate / PER_MILLE:,.2f}"))
    if not found.steady:
        terminal.note(terminal.text("capacity.unsteady"))
    out.print()
    out.print(_table(found.probes, terminal))


def _table(probes: Sequence[Probe], terminal: Terminal) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for column in ("rate", "attainment", "", "ttft", "tpot", "tokens", "utilisation"):
        table.add_column(terminal.text(f"capacity.column.{column}") if column else "", justify="right")
    for probe in probes:
        result = probe.result
        table.add_row(
            f"{probe.rate / PER_MILLE:,.2f}",
            terminal.percent(result.attainment),
            bar(result.attainment, 1, _BAR_WIDTH, terminal.draws_blocks),
            time_of(result, "ttft", "p90"),
            time_of(result, "tpot", "p90"),
            f"{result.tokens_per_second:,.0f}",
            terminal.percent(result.utilisation),
        )
    return table
