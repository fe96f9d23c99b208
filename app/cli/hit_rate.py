"""`kvscope replay --cache POLICY`: how much of a trace a prefix cache would have held; no engine runs."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO

import click

from app.backend.hit_rates import hit_rate_source, study_of, trie_of
from app.backend.settings import SETTINGS, shorten
from app.cli.experiment_view import chart_of, table_of
from app.cli.failure import INTERRUPTED, OK, fail
from app.cli.interrupt import Interrupt
from app.cli.options import FLAGS, checked, numbers
from app.cli.progress import followed, progress_bar
from app.cli.terminal import Terminal
from app.cli.trace_source import read_source, trace_document
from pycore.hit_rate.block_cache import BLOCK_CACHES
from pycore.hit_rate.hit_rate import WARM_UP, HitRates
from pycore.workload.trace import Trace

ALL = "all"
MOST = {"cache_blocks": 10_000_000, "cache_tokens": 10_000_000_000}
# name of the parameter → how it is spelled; what they say goes with a policy only.
STUDY_FLAGS = {"cache_blocks": "--cache-blocks", "cache_tokens": "--cache-tokens", "warm_up": "--warmup"}
# Settings of the engine that a study looks at.
USED = ("cache", "limit", "blocks", "bs")


def study_options(terminal: Terminal) -> list[click.Option]:
    """The options that go with a policy."""
    return [
        click.Option([flag, name], help=terminal.text(f"cli.option.{name}"))
        for name, flag in STUDY_FLAGS.items()
    ]


def policies_of(cache: object) -> list[str] | None:
    """The policies that `--cache` asks for, None if it asks for an engine with a cache, or for nothing.

    Raises:
        RequestError: it names something else, or an engine's cache beside a policy.
    """
    engine_caches = SETTINGS["replay"]["cache"].choices
    if cache is None or cache in engine_caches:
        return None
    names = [name.strip() for name in str(cache).split(",")]
    if names == [ALL]:
        return list(BLOCK_CACHES)
    for name in names:
        if name not in BLOCK_CACHES:
            expected = f"{', '.join(engine_caches)} | {', '.join((*BLOCK_CACHES, ALL))}"
            fail("cli.error.value", option=FLAGS["cache"], value=shorten(name), expected=expected)
    return list(dict.fromkeys(names))


def remark_on_study_options(given: Mapping[str, object], terminal: Terminal) -> None:
    """Says which of the options change nothing while an engine runs."""
    for name, flag in STUDY_FLAGS.items():
        if given[name] is not None:
            terminal.note(terminal.text("cli.note.study", option=flag, cache=FLAGS["cache"]))


def study(
    terminal: Terminal,
    trace: str,
    policies: Sequence[str],
    given: Mapping[str, object],
    keep_good: bool,
    form: str,
) -> int:
    """Reads the trace, measures every policy at every size, and shows or writes it.

    Args:
        terminal: where to write.
        trace: the file.
        policies: see policies_of.
        given: all options, None where nothing was said.
        keep_good: leave bad rows out.
        form: "json", "csv", or "" for tables and pictures.

    Returns:
        The exit code.

    Raises:
        RequestError: an option is out of range, or the file gives no such trace.
    """
    warm_up = _share(given["warm_up"])
    sizes = {name: numbers(STUDY_FLAGS[name], given[name], 1, most) for name, most in MOST.items()}
    if sizes["cache_blocks"] and sizes["cache_tokens"]:
        fail("cli.error.two_sizes")
    values = checked("replay", {key: given[key] for key in USED if key != "cache"})
    for key, flag in {**FLAGS, "compare": "--compare", "html": "--html"}.items():
        if key not in USED and given.get(key):
            terminal.note(terminal.text("cli.note.engine", option=flag))
    with progress_bar(terminal, quiet=bool(form)) as progress:
        read = read_source(trace, values.get("limit"), keep_good, progress, terminal)
        trie = trie_of(read, values.get("bs", SETTINGS["replay"]["bs"].default))
        blocks = sizes["cache_blocks"]
        if sizes["cache_tokens"]:
            size, most = trie.block_size, MOST["cache_tokens"]  # a cache has one block at least
            tokens = numbers(STUDY_FLAGS["cache_tokens"], given["cache_tokens"], size, most)
            blocks = [each // size for each in tokens]
        elif "blocks" in values and not blocks:
            blocks = [values["blocks"]]
        measured = study_of(trie, policies, blocks, warm_up)
        with Interrupt() as interrupt:
            followed(progress, terminal.text("cli.progress.hit_rates"), measured.run(), interrupt)
    if interrupt.asked and not measured.started:
        raise click.Abort
    rates = measured.result()
    if form == "json":
        document = {"partial": not measured.done, "hit_rates": rates.as_dict()}
        terminal.write_json("replay", {**trace_document(read), **document})
    elif form == "csv":
        terminal.write(_csv(rates))
    else:
        _show(read, rates, terminal)
    if measured.done:
        return OK
    terminal.note(terminal.text("cli.partial"))
    return INTERRUPTED


def _share(given: object) -> float:
    """The share of the requests that only warm the cache up.

    Raises:
        RequestError: it is none.
    """
    if given is None:
        return WARM_UP
    try:
        share = float(str(given))
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        fail("cli.error.value", option=STUDY_FLAGS["warm_up"], value=shorten(given), expected="0 … 0.99")
    return share


def _show(trace: Trace, rates: HitRates, terminal: Terminal) -> None:
    out = terminal.out
    out.print(terminal.text("cli.replay.title", name=trace.name, requests=len(trace.requests)), style="bold")
    fields = {
        "events": rates.num_events,
        "blocks": rates.num_blocks,
        "size": rates.block_size,
        "counted": rates.num_requests - rates.num_warm_up,
        "tokens": rates.ceiling.total_tokens,
        "share": terminal.percent(rates.ceiling.hit_rate),
    }
    out.print(terminal.text("cli.hit_rates.about", **fields))
    source = hit_rate_source(rates)
    for table in source["tables"]:
        out.print()
        out.print(table_of(table, terminal))
    for chart in source["charts"]:
        out.print()
        out.print(terminal.text(chart["key"]), style="bold")
        out.print(chart_of(chart, terminal))


def _csv(rates: HitRates) -> str:
    """One row a policy and size; the ceiling comes last."""
    rows = [point.as_dict() for point in (*rates.points, rates.ceiling)]
    table = StringIO()
    writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()
