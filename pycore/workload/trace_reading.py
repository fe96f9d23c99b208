"""A trace file being read: rows in, lists of integers and prompts, requests out."""

from itertools import islice
from typing import TextIO

from pycore.prompt import Prompt
from pycore.request import Request
from pycore.workload.trace import Trace
from pycore.workload.trace_cell import CellError, Clock, LengthTable
from pycore.workload.trace_problem import TraceError, TraceProblem, shortened
from pycore.workload.trace_prompt import SaidError
from pycore.workload.trace_rows import CsvRows, HeaderError, JsonRows, Row

# Problems kept of a file with many; all are counted.
KEPT_PROBLEMS = 100
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")


class TraceReading:
    """Reads rows as many at a time as it is told.

    Attributes:
        bad_rows: rows left out so far.
    """

    def __init__(self, text: TextIO, name: str, limit: int | None, keep_good: bool) -> None:
        """Args:
        text: the file's lines.
        name: the file's name, for messages.
        limit: good rows to stop after, or None.
        keep_good: leave bad rows out; otherwise the first one is an error.

        Raises:
            TraceError: the file is empty, or its header names no usable columns.
        """
        self.bad_rows = 0
        self._name = name
        self._limit = limit
        self._keep_good = keep_good
        self._prompts: list[int] = []  # tokens
        self._outputs: list[int] = []  # tokens
        self._arrivals: list[int] = []  # ns, from anywhere
        self._said: list[Prompt] = []  # of each request, or of none
        self._last_stamp = ""
        self._lengths = LengthTable()
        self._clock: Clock | None = None  # known with the columns, at the first row
        self._problems: list[TraceProblem] = []
        self._unsorted: TraceProblem | None = None
        self._first_line = 0
        self._source = self._open(text)
        self._rows = iter(self._source)

    @property
    def total_rows(self) -> int:
        """Rows so far, good and bad."""
        return len(self._prompts) + self.bad_rows

    def read(self, count: int) -> bool:
        """Reads at most so many rows; False when the file's end or the limit is reached.

        Raises:
            TraceError: a bad row, if they are not to be left out.
        """
        prompts, outputs, arrivals, lengths = self._prompts, self._outputs, self._arrivals, self._lengths
        read_arrival = self._clock.read if self._clock is not None else self._first_arrival
        last_arrival, last_stamp = arrivals[-1] if arrivals else None, self._last_stamp
        source, said = self._source, self._said
        turns = count if self._limit is None else min(count, self._limit - len(prompts))
        before = self.total_rows
        for row in islice(self._rows, turns):
            if row is None:
                continue
            prompt_text, output_text, stamp = row
            try:
                prompt = lengths[prompt_text]
                output = lengths[output_text]
                arrival = read_arrival(stamp)
                if source.says is not None:
                    said.append(source.says.read(source.object, prompt, len(said)))
            except CellError:
                self._reject_cell(row)
                continue
            except SaidError as bad:
                self._reject(TraceProblem(source.line, *bad.args))
                continue
            if last_arrival is not None and arrival < last_arrival and self._unsorted is None:
                self._unsorted = self._notice("unsorted", shortened(stamp), shortened(last_stamp))
            last_arrival, last_stamp = arrival, stamp
            prompts.append(prompt)
            outputs.append(output)
            arrivals.append(arrival)
        self._last_stamp = last_stamp
        # Each turn makes a good row or a bad one: fewer than asked for means the file has ended.
        return self.total_rows - before == turns and len(prompts) != self._limit

    def trace(self) -> Trace:
        """The trace of the rows read; ends the reading.

        Raises:
            TraceError: there is no good row.
        """
        arrivals = self._arrivals
        if not arrivals:
            code = "no_good_row" if self.bad_rows else "no_rows"
            raise self._failure(TraceProblem(self._first_line, None, str(self.bad_rows), code))
        truncated = len(arrivals) == self._limit and self._source.has_more()
        order: range | list[int] = range(len(arrivals))
        if self._unsorted is not None:
            order = sorted(order, key=arrivals.__getitem__)
        first = arrivals[order[0]]
        prompts, outputs, said = self._prompts, self._outputs, self._said
        requests = tuple(
            Request(id, arrivals[row] - first, prompts[row], outputs[row], prompt=said[row] if said else None)
            for id, row in enumerate(order)
        )
        return Trace(
            name=self._name,
            format=self._source.format,
            requests=requests,
            columns=self._source.columns,
            unit=self._clock.unit,
            problems=tuple(self._problems),
            notices=self._notices(),
            total_rows=self.total_rows,
            bad_rows=self.bad_rows,
            truncated=truncated,
        )

    def _open(self, text: TextIO) -> CsvRows | JsonRows:
        number, first = 0, ""
        for line in text:
            number += 1
            if not line.isspace():
                first = line
                break
        self._first_line = max(number, 1)
        if not first:
            raise self._failure(TraceProblem(1, None, "", "empty"))
        if first.lstrip()[0] in "{[" or self._name.lower().endswith(_JSON_SUFFIXES):
            return JsonRows(first, number, text, self._reject)
        try:
            return CsvRows(first, number, text, self._reject)
        except HeaderError as failure:
            problem = failure.args[0]
            if any(char == "\ufffd" or (char < " " and char not in "\t\n") for char in first):
                problem = TraceProblem(number, None, "", "binary")
            raise self._failure(problem) from None

    def _first_arrival(self, stamp: str) -> int:
        if self._clock is None:
            columns = self._source.columns
            self._clock = Clock(columns.arrival, columns.unit, self._source.default_unit)
        return self._clock.read(stamp)

    def _reject(self, problem: TraceProblem) -> None:
        """Counts a bad row, keeps its problem, and leaves it out."""
        self.bad_rows += 1
        if not self._keep_good:
            raise self._failure(problem)
        if len(self._problems) < KEPT_PROBLEMS:
            self._problems.append(problem)

    def _reject_cell(self, row: Row) -> None:
        """Rejects a row for the first of its cells that cannot be read."""
        columns = self._source.columns
        names = (columns.prompt, columns.output, columns.arrival)
        readers = (self._lengths.__getitem__, self._lengths.__getitem__, self._first_arrival)
        for name, text, read in zip(names, row, readers, strict=True):
            try:
                read(text)
            except CellError as bad:
                self._reject(TraceProblem(self._source.line, name, shortened(text), *bad.args))
                return

    def _notice(self, code: str, value: str, expected: str) -> TraceProblem:
        return TraceProblem(self._source.line, self._source.columns.arrival, value, code, expected)

    def _notices(self) -> tuple[TraceProblem, ...]:
        notices = [] if self._unsorted is None else [self._unsorted]
        arrival, clock = self._source.columns.arrival, self._clock
        if arrival is None:
            notices.append(TraceProblem(self._first_line, None, "", "no_arrivals"))
        elif clock.assumed:
            notices.append(TraceProblem(self._first_line, arrival, "", "assumed_unit", clock.unit))
        return tuple(notices)

    def _failure(self, problem: TraceProblem) -> TraceError:
        return TraceError(self._name, (problem, *self._problems))
