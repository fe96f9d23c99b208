"""Reads a trace file (Azure CSV, any CSV or JSONL with a prompt and an output length) into requests.

    bytes -> lines of text -> rows of cells -> three lists of integers -> requests in order of arrival
             (BOM, CR LF)     trace_rows       trace_cell                 shifted to start at 0
                                               trace_prompt: what prompts share, where it is said

A bad row is named and left out; only a file without any good row is an error.
"""

import io
from collections.abc import Callable, Generator
from dataclasses import dataclass
from os import PathLike, fspath
from os.path import basename
from typing import BinaryIO

from pycore.workload.trace import Trace
from pycore.workload.trace_problem import TraceError, TraceProblem
from pycore.workload.trace_reading import TraceReading

# Rows between two reports of progress.
PROGRESS_ROWS = 10_000
_HEAD_BYTES = 8192
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file is read.

    Attributes:
        rows: rows looked at.
        done, total: bytes read, and the file's size in bytes.
    """

    rows: int
    done: int
    total: int


def read_trace(
    data: bytes | str,
    name: str,
    limit: int | None = None,
    keep_good: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Trace:
    r"""Reads a trace that is in memory.

    Args:
        data: the file's content.
        name: the file's name, for messages.
        limit: read the first so many good rows only, in the order of the file.
        keep_good: leave bad rows out; otherwise the first one is an error.
        progress: called about every `PROGRESS_ROWS` rows; what it raises ends the reading.

    Raises:
        TraceError: no trace comes of the file, or a bad row with keep_good False.
        ValueError: a limit below 1.

    >>> trace = read_trace("arrival_s;prompt;output\n0.2;7;3\n\n0.1;5;x\n0.1;5;2", "a.csv")
    >>> [(each.arrival_ns, each.prompt_len, each.output_len) for each in trace.requests]
    [(0, 5, 2), (100000000, 7, 3)]
    >>> print(*trace.problems, *trace.notices, sep="\n")
    line 4, output: not_a_number 'x' (1..10000000)
    line 5, arrival_s: unsorted '0.1' (0.2)
    """
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data
    return _finish(trace_steps(io.BytesIO(content), len(content), name, limit, keep_good), progress)


def read_trace_path(
    path: str | PathLike[str],
    limit: int | None = None,
    keep_good: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Trace:
    """Reads a trace from disk, line by line; see `read_trace`.

    Raises:
        OSError: the file cannot be opened or read.
        TraceError, ValueError: as `read_trace`.
    """
    with open(path, "rb") as stream:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        return _finish(trace_steps(stream, size, basename(fspath(path)), limit, keep_good), progress)


def _finish(steps: Generator[Progress, None, Trace], report: Callable[[Progress], None] | None) -> Trace:
    try:
        while True:
            done = next(steps)
            if report is not None:
                report(done)
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


def trace_steps(
    stream: BinaryIO, size: int, name: str, limit: int | None = None, keep_good: bool = True
) -> Generator[Progress, None, Trace]:
    """Reads a trace in steps of about `PROGRESS_ROWS` rows, for callers that do other things in between.

    Args:
        stream: the file, seekable, at its start; closed at the end.
        size: its size in bytes.
        name, limit, keep_good: as in `read_trace`.

    Yields:
        How far it is.

    Returns:
        The trace.

    Raises:
        TraceError, ValueError: as `read_trace`.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1 row, not {limit}")
    head = stream.read(_HEAD_BYTES)
    bom, encoding = next(((bom, code) for bom, code in _BOMS if head.startswith(bom)), (b"", "utf-8"))
    if b"\0" in head and encoding == "utf-8":
        raise TraceError(name, (TraceProblem(1, None, "", "binary"),))
    stream.seek(len(bom))
    # Undecodable bytes become U+FFFD: harmless in a column that is not read, else they spoil their row.
    with io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline=None) as text:
        reading = TraceReading(text, name, limit, keep_good)
        while reading.read(PROGRESS_ROWS):
            yield Progress(reading.total_rows, stream.tell(), size)
        yield Progress(reading.total_rows, size, size)
        return reading.trace()
