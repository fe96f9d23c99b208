"""The cells of a sweep: a grid of settings, a replay each, and the file that keeps those that are done."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from hashlib import sha256
from io import SEEK_END, BytesIO
from itertools import product
from pathlib import Path

from app.backend.replay import make_replay, reading, result_of
from app.backend.settings import Value
from app.cli.version import version
from pycore.replay_result import ReplayResult
from pycore.workload.trace import Trace

NO_LIMIT = 0
_FIGURES = {field.name for field in fields(ReplayResult)} - {"time_line"}
_STEPS_AT_ONCE = 100_000


def grid(lists: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Every combination of the settings, the last one changing first.

    >>> grid({"bs": [8, 16], "wm": [1.0]})
    [{'bs': 8, 'wm': 1.0}, {'bs': 16, 'wm': 1.0}]
    """
    return [dict(zip(lists, each, strict=True)) for each in product(*lists.values())]


def run_cell(content: bytes, name: str, limit: int, keep_good: bool, values: dict[str, Value]) -> dict:
    """Replays a trace with one combination of settings: what a worker does, here or on a cluster.

    Args:
        content: of the trace file.
        name: of the file.
        limit: read the first so many good rows only; NO_LIMIT for all.
        keep_good: leave bad rows out.
        values: every replay setting, allowed.

    Returns:
        ReplayResult.as_dict() without its time line.

    Raises:
        RequestError: settings that do not go together.
    """
    trace = _trace(content, name, limit, keep_good)
    replay = make_replay(values, trace.requests)
    while not replay.done:
        replay.advance(_STEPS_AT_ONCE)
    result = result_of(replay)
    del result["time_line"]
    return result


@lru_cache(maxsize=1)  # a worker reads the trace once, however many cells it is given
def _trace(content: bytes, name: str, limit: int, keep_good: bool) -> Trace:
    read = reading(BytesIO(content), len(content), name, limit or None, keep_good)
    try:
        while True:
            next(read)
    except StopIteration as end:
        return end.value


class FinishedCells:
    """A file with a line for each cell that is done, so that a sweep that was stopped goes on where it was.

    A line counts only for the same trace, the same settings and the same version of the program.
    """

    def __init__(self, path: Path, content: bytes, limit: int, keep_good: bool) -> None:
        """Reads what is there; a line that was cut off in the middle is left out.

        Raises:
            OSError: the file cannot be read.
        """
        self._path = path
        self._trace = sha256(content + f"|{limit}|{keep_good}|{version()}".encode()).hexdigest()
        self._results: dict[str, dict] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                for cell in _cells(line):
                    if cell["trace"] == self._trace:
                        self._results[_key(cell["settings"])] = cell["result"]

    def result(self, values: Mapping[str, Value]) -> dict | None:
        """What a cell came to; None if it is not done."""
        return self._results.get(_key(values))

    def add(self, values: Mapping[str, Value], result: dict) -> None:
        """Keeps a cell.

        Raises:
            OSError: the file cannot be written.
        """
        self._results[_key(values)] = result
        line = json.dumps({"version": 1, "trace": self._trace, "settings": dict(values), "result": result})
        with self._path.open("a+b") as file:
            size = file.seek(0, SEEK_END)
            file.seek(max(0, size - 1))
            broken = file.read() not in (b"", b"\n")  # a line was cut off in the middle
            file.write((("\n" if broken else "") + line + "\n").encode())


def _key(values: Mapping[str, Value]) -> str:
    return json.dumps(dict(values), sort_keys=True)


def _cells(line: str) -> Iterator[dict]:
    """The cell in a line, if there is one."""
    try:
        cell = json.loads(line)
    except ValueError:
        return
    if isinstance(cell, dict) and cell.get("version") == 1 and {"trace", "settings", "result"} <= cell.keys():
        settings, result = cell["settings"], cell["result"]
        if isinstance(settings, dict) and isinstance(result, dict) and result.keys() >= _FIGURES:
            yield cell
