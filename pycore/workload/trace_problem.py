"""What is wrong with a trace file, and where: TraceProblem, TraceError."""

from dataclasses import dataclass

# A cell or a line quoted in a problem is cut to this many characters.
VALUE_CHARS = 40

# Failures of the whole file: no trace comes of it.
FILE_CODES = ("empty", "binary", "no_prompt_column", "no_output_column", "no_rows", "no_good_row")
# Failures of one row: the row is left out, the rest stands.
ROW_CODES = (
    "not_a_number",
    "not_finite",
    "not_whole",
    "not_positive",
    "too_large",
    "missing_value",
    "missing_column",
    "bad_time",
    "bad_json",
    "missing_list",
    "not_a_list",
    "wrong_ids",
    "wrong_length",
    "bad_id",
    "bad_block_size",
    "bad_quotes",
    "short_row",
    "long_row",
)
# Things the reader decided by itself and says; nothing is left out.
NOTICE_CODES = ("unsorted", "assumed_unit", "no_arrivals")


def shortened(value: str) -> str:
    """The value as it can be quoted: at most `VALUE_CHARS` characters, control characters replaced.

    Markup is left as it is: whoever makes HTML of it escapes it there.

    >>> shortened("<script>" + chr(0) + "x" * 100)
    '<script>\ufffdxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    value = value[: 2 * VALUE_CHARS].strip()
    if len(value) > VALUE_CHARS:
        value = value[: VALUE_CHARS - 1] + "…"
    return "".join(c if c.isprintable() else "\ufffd" for c in value)


@dataclass(frozen=True, slots=True)
class TraceProblem:
    """One thing wrong with a file, in no language: the words are in static/text, key `trace.<code>`.

    Attributes:
        line: number of the line, from 1, as an editor shows it; of a row over several lines, its first.
        column: the column as the file spells it, or None where the problem is the line's or the file's.
        value: what stands there, see `shortened`.
        code: one of `FILE_CODES`, `ROW_CODES`, `NOTICE_CODES`.
        expected: what should stand there: a range, a unit, a pattern or names, "" where the code says it all.
    """

    line: int
    column: str | None
    value: str
    code: str
    expected: str = ""

    def __str__(self) -> str:
        """One line for logs and tracebacks.

        >>> print(TraceProblem(3, "ContextTokens", "abc", "not_a_number", "1..10000000"))
        line 3, ContextTokens: not_a_number 'abc' (1..10000000)
        """
        place = f"line {self.line}" if self.column is None else f"line {self.line}, {self.column}"
        return f"{place}: {self.code} {self.value!r}" + (f" ({self.expected})" if self.expected else "")


class TraceError(ValueError):
    """The file gives no trace.

    Attributes:
        name: the file's name.
        problems: why, the decisive one first; never empty.
    """

    def __init__(self, name: str, problems: tuple[TraceProblem, ...]) -> None:
        super().__init__(f"{name}: {problems[0]}")
        self.name = name
        self.problems = problems

    @property
    def problem(self) -> TraceProblem:
        """The decisive problem."""
        return self.problems[0]
