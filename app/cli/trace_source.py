"""The trace that a command is given: a path, or what is piped in."""

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from app.backend.replay import problem_text, reading, trace_notices
from app.backend.settings import shorten
from app.cli.failure import fail
from app.cli.progress import followed
from app.cli.terminal import Terminal
from pycore.workload.trace import Trace

if TYPE_CHECKING:
    from rich.progress import Progress

STDIN = "-"
_IN_MEMORY_BYTES = 1 << 26  # of a stream that cannot be read twice; more goes to a temporary file


def open_source(path: str) -> tuple[BinaryIO, int]:
    """The trace at `path`, or from stdin if that is "-".

    Returns:
        A seekable stream at its start, and its size in bytes.

    Raises:
        RequestError: it cannot be read.
    """
    name = shorten(path)
    try:
        if path == STDIN:
            return _spooled(sys.stdin.buffer)
        stream = open(path, "rb")  # noqa: SIM115  closed by its reader
        if not stream.seekable():
            with stream:
                return _spooled(stream)
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        return stream, size
    except FileNotFoundError:
        fail("cli.error.no_file", path=name)
    except IsADirectoryError:
        fail("cli.error.folder", path=name)
    except PermissionError:
        fail("cli.error.permission", path=name)
    except (OSError, ValueError) as reason:
        fail("cli.error.unreadable", path=name, reason=getattr(reason, "strerror", None) or str(reason))


def source_name(path: str) -> str:
    """The name of a source, as it may be repeated to the user."""
    return "stdin" if path == STDIN else shorten(Path(path).name)


def _spooled(stream: BinaryIO) -> tuple[BinaryIO, int]:
    """All of a stream, where it can be read from any place."""
    copy = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115  closed by its reader
    shutil.copyfileobj(stream, copy)
    size = copy.tell()
    copy.seek(0)
    return copy, size


def read_source(
    path: str, limit: int | None, keep_good: bool, progress: "Progress", terminal: Terminal
) -> Trace:
    """Reads the trace while a bar follows, and tells what the reader left out or decided by itself.

    Raises:
        RequestError: it cannot be read, or gives no trace.
    """
    return read_stream(*open_source(path), source_name(path), limit, keep_good, progress, terminal)


def read_stream(
    stream: BinaryIO,
    size: int,
    name: str,
    limit: int | None,
    keep_good: bool,
    progress: "Progress",
    terminal: Terminal,
) -> Trace:
    """The same of a stream of `size` bytes.

    Raises:
        RequestError: it gives no trace.
    """
    read = reading(stream, size, name, limit, keep_good)
    trace = followed(progress, terminal.text("cli.progress.read"), read)
    for remark in trace_notices(trace):
        terminal.note(remark.sentences[terminal.lang])
    return trace


def trace_document(trace: Trace) -> dict:
    """What was read, as plain JSON."""
    problems = [
        {
            "line": problem.line,
            "column": problem.column,
            "value": problem.value,
            "code": problem.code,
            "expected": problem.expected,
            **problem_text(problem),
        }
        for problem in (*trace.problems, *trace.notices)
    ]
    return {
        "trace": {
            "name": trace.name,
            "format": trace.format,
            "requests": len(trace.requests),
            "rows": trace.total_rows,
            "bad_rows": trace.bad_rows,
            "truncated": trace.truncated,
            "problems": problems,
        }
    }
