"""The rows of a trace file, one tuple of cell texts each: CsvRows, JsonRows.

Both take lines of text, find the columns by themselves, and yield (prompt, output, arrival) as text, or None
for a row they gave to `reject`. `line` is the number of the row yielded last, from 1; `says` reads what the
object of that row says of its prompt, None in files that do not say.
"""

import csv
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import TextIO

from pycore.workload.trace_columns import (
    PROMPT_HINT,
    Columns,
    MissingColumnError,
    find_columns,
    is_azure,
)
from pycore.workload.trace_problem import TraceProblem, shortened
from pycore.workload.trace_prompt import HASH_IDS, HashIds, TokenIds

Row = tuple[str, str, str]
Reject = Callable[[TraceProblem], None]

DELIMITERS = (",", ";", "\t")
# A quoted cell may span this many further lines; a quote left open costs no more than its own row.
MAX_CELL_LINES = 100
# JSON nested deeper than this is refused before the parser meets it.
MAX_DEPTH = 100
JSON_HINT = '{"input_length": 1, "output_length": 1}'


class HeaderError(ValueError):
    """The header names no usable columns. Its argument: the problem."""


class CsvRows:
    """Rows below a header line; delimiter `,` `;` or tab, whichever makes the header name the columns.

    Every line is a row of its own, so that damage stays in its row; only where a line holds a quote is it
    left to the csv module, which may then take further lines.

    Attributes:
        format: "azure" or "csv".
        columns: see `Columns`.
        default_unit: seconds, where the arrival's name tells no unit.
        line: line of the row yielded last.
    """

    default_unit = "s"
    says = None
    object: Mapping[str, object] = {}

    def __init__(self, header: str, header_line: int, text: TextIO, reject: Reject) -> None:
        """Args:
        header: the first line that is not blank.
        header_line: its number.
        text: the lines after it.
        reject: takes the problem of each row that is left out.

        Raises:
            HeaderError: no delimiter makes the header name a prompt and an output column.
        """
        self.line = header_line
        self._text = text
        self._reject = reject
        self._pending: deque[str] = deque()  # lines taken for an open quote and given back
        self._delimiter, names, self.columns = _read_header(header, header_line)
        self.format = "azure" if is_azure(names) else "csv"
        self._width = len(names)
        found = self.columns
        # Without an arrival column the third cell is not looked at: any will do.
        self._pick = itemgetter(
            *(names.index(name) for name in (found.prompt, found.output, found.arrival or found.prompt))
        )

    def __iter__(self) -> Iterator[Row | None]:
        """Yields the rows; see the module."""
        delimiter, width, pick = self._delimiter, self._width, self._pick
        number = self.line
        for line in self._lines():
            number += 1
            self.line = number
            cells: list[str] | None
            if '"' in line:
                cells, taken = self._quoted(line)
                number += taken
                if cells is None:
                    yield None
                    continue
            else:
                cells = line.rstrip("\n").split(delimiter)
            if len(cells) != width:
                if not line.strip():
                    continue
                if len(cells) < width or any(cell.strip() for cell in cells[width:]):
                    code = "short_row" if len(cells) < width else "long_row"
                    self._reject(TraceProblem(self.line, None, shortened(line), code, str(width)))
                    yield None
                    continue
            yield pick(cells)

    def has_more(self) -> bool:
        """Whether there are rows not yielded yet; only to be asked when reading ends here."""
        return any(not line.isspace() for line in chain(self._pending, self._text))

    def _lines(self) -> Iterator[str]:
        while True:
            while self._pending:
                yield self._pending.popleft()
            for line in self._text:
                yield line
                if self._pending:
                    break
            else:
                if not self._pending:
                    return

    def _quoted(self, line: str) -> tuple[list[str] | None, int]:
        """The cells of a row with quotes, and how many further lines it took; None if it is rejected."""
        taken: list[str] = []

        def lines() -> Iterator[str]:
            yield line
            while len(taken) < MAX_CELL_LINES:
                following = self._pending.popleft() if self._pending else next(self._text, None)
                if following is None:
                    return
                taken.append(following)
                yield following

        try:
            return _csv_cells(lines(), self._delimiter), len(taken)
        except csv.Error:
            self._pending.extendleft(reversed(taken))
            self._reject(TraceProblem(self.line, None, shortened(line), "bad_quotes"))
            return None, 0


def _csv_cells(lines: Iterator[str], delimiter: str) -> list[str]:
    return next(csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True))


def _read_header(header: str, line: int) -> tuple[str, list[str], Columns]:
    """The delimiter, the names, and the columns found among them."""
    failure = ("no_prompt_column", PROMPT_HINT)
    for delimiter in DELIMITERS:
        try:
            names = [name.strip() for name in _csv_cells(iter([header]), delimiter)]
            while names and not names[-1]:  # a delimiter at the end of the line makes no column
                names.pop()
            return delimiter, names, find_columns(names)
        except csv.Error:
            continue
        except MissingColumnError as missing:
            # Only a prompt column found tells that this is the delimiter: then the output is what lacks.
            if missing.args[0] == "no_output_column":
                failure = missing.args
    raise HeaderError(TraceProblem(line, None, shortened(header), *failure))


class JsonRows:
    """One JSON object a line; the first object that has the columns decides for all.

    Numbers with a point stay the text they are written as: arrivals are exact, and 1e400 is harmless.

    Attributes:
        format: "jsonl", or what `says` calls it.
        columns: see `Columns`; None before the first row.
        default_unit: of a `timestamp`.
        line: line of the row yielded last.
        object: that row, decoded.
        says: reads what a row says of its prompt, None if it says nothing; known with the columns.
    """

    def __init__(self, first: str, first_line: int, text: TextIO, reject: Reject) -> None:
        """Args:
        first: the first line that is not blank.
        first_line: its number.
        text: the lines after it.
        reject: takes the problem of each row that is left out.
        """
        self.line = first_line - 1
        self.columns: Columns | None = None
        self.says: HashIds | TokenIds | None = None
        self.object: Mapping[str, object] = {}
        self._first = first
        self._text = text
        self._reject = reject
        self._lists: list[str] = []  # columns of lists, in the first row
        self._decode = json.JSONDecoder(parse_float=str, parse_constant=str).decode
        self._decode_long = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).decode

    @property
    def format(self) -> str:
        """See the class."""
        return self.says.format if self.says else "jsonl"

    @property
    def default_unit(self) -> str:
        """See the class."""
        return self.says.default_unit if self.says else "s"

    def __iter__(self) -> Iterator[Row | None]:
        """Yields the rows; see the module."""
        self.line += 1
        yield self._row(self._first)
        for line in self._text:
            self.line += 1
            if not line.isspace():
                yield self._row(line)

    def has_more(self) -> bool:
        """Whether there are rows not yielded yet; only to be asked when reading ends here."""
        return any(not line.isspace() for line in self._text)

    def _row(self, line: str) -> Row | None:
        try:
            row = None if _is_deep(line) else self._decoded(line)
        except (ValueError, RecursionError):
            row = None
        if type(row) is not dict:
            return self._refuse(None, line, "bad_json", JSON_HINT)
        columns = self.columns
        if columns is None:
            try:
                columns = self._recognise(row)
            except MissingColumnError as missing:
                return self._refuse(None, line, *missing.args)
        self.object = row
        cells = []
        # Without an arrival column the third cell is not looked at: any will do.
        for column in (columns.prompt, columns.output, columns.arrival or columns.prompt):
            cell = row.get(column, row)
            if cell is row:
                return self._refuse(column, line, "missing_column", column)
            kind = type(cell)
            if kind is int:
                cell = str(cell)
            elif kind is list and column in self._lists:
                cell = str(len(cell))  # of tokens; what is in it is looked at with the prompt
            elif kind is not str:
                # Anything else goes on as its JSON text, which no reader of numbers or times takes.
                cell = "" if cell is None else json.dumps(cell)
            cells.append(cell)
        return tuple(cells)

    def _decoded(self, line: str) -> object:
        try:
            return self._decode(line)
        except ValueError:
            return self._decode_long(line)  # it may be an integer of thousands of digits

    def _recognise(self, row: Mapping[str, object]) -> Columns:
        """Finds the columns, and who reads the prompts, by the keys of the first row.

        Raises:
            MissingColumnError: it has no lengths.
        """
        self._lists = [name for name, cell in row.items() if type(cell) is list]
        columns = self.columns = find_columns(list(row), self._lists)
        if HASH_IDS in row:
            self.says = HashIds(row)
        elif columns.prompt_ids is not None:
            self.says = TokenIds(columns.prompt_ids)
        return columns

    def _refuse(self, column: str | None, value: str, code: str, expected: str) -> None:
        self._reject(TraceProblem(self.line, column, shortened(value), code, expected))


def _is_deep(line: str) -> bool:
    """Whether brackets nest deeper than `MAX_DEPTH`; those inside strings count too, which no trace minds."""
    if line.count("[") + line.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for char in line:
        if char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif char in "]}":
            depth -= 1
    return False
