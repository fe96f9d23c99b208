"""What the benchmarks' command lines have in common: their options, and how a report is printed."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path


def options_of(name: str, about: str, rounds: int) -> argparse.ArgumentParser:
    """A parser with `--rounds` and `--json`.

    Args:
        name: the module below `benchmarks`.
        about: its docstring, whose first line tells what it measures.
        rounds: timed rounds of each contender, unless told otherwise.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about.splitlines()[0])
    parser.add_argument(
        "--rounds", type=int, default=rounds, help=f"timed rounds a contender (default {rounds})"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def add_peers(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Adds `--peer` and `--peer-path`: whom to run beside ours, and where they were unpacked."""
    parser.add_argument("--peer", action="append", choices=list(names), default=[], help="may be repeated")
    parser.add_argument(
        "--peer-path", action="append", type=Path, default=[], help="folder of an unpacked wheel"
    )


def missing_peer(name: str, problem: Exception) -> str:
    """What a report says of a peer that could not be run."""
    return f"{name}: {problem} is neither installed nor in --peer-path"


def ratio_line(ratio: float | None, title: str, goal: float, elsewhere: Mapping[str, object]) -> str:
    """The line below a table of rates.

    Args:
        ratio: ours over the peer's; None if no peer ran.
        title: of the ratio.
        goal: the least that it should be.
        elsewhere: rates that others published, by name.
    """
    if ratio is None:
        line = "  no peer in this run, so no ratio"
    else:
        line = f"  {title}: {ratio:.2f} (goal {goal}: {'met' if ratio >= goal else 'not met'})"
    told = ", ".join(
        f"{name} {rate:,}" if isinstance(rate, int) else f"{name} {rate}" for name, rate in elsewhere.items()
    )
    return f"{line}; measured elsewhere: {told}" if told else line


def print_report(report: dict, show: Callable[[dict], None], as_json: bool) -> None:
    """Prints a report as one JSON document, or as `show` does."""
    if as_json:
        print(json.dumps(report, indent=1))
    else:
        show(report)
