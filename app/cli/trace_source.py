"""The file that a trace is read from: a path, or what is piped in."""

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

from app.backend.settings import shorten
from app.cli.failure import fail

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
