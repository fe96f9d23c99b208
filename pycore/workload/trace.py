"""A trace: the requests of a file, and how they were read."""

from dataclasses import dataclass

from pycore.request import Request
from pycore.workload.trace_columns import Columns
from pycore.workload.trace_problem import TraceProblem


@dataclass(frozen=True, slots=True)
class Trace:
    """The requests of a trace file, and how they were read.

    Attributes:
        name: the file's name.
        format: "azure", "csv", "jsonl"; or of those that say what prompts share (see trace_prompt)
            "mooncake", "bailian", "hash_ids", "token_ids".
        requests: by arrival, ties as in the file; ids are positions, the first arrives at 0 ns. Without an
            arrival column all arrive at 0.
        columns: the file's columns they were read from.
        unit: of the arrival column: ns, us, ms, s, "date-time"; None without one.
        problems: of the rows left out, one each, the first 100 of `bad_rows`.
        notices: what the reader decided by itself: see `NOTICE_CODES`.
        total_rows: rows looked at, good and bad; neither header nor blank lines.
        bad_rows: rows left out.
        truncated: whether the limit left rows unread.
    """

    name: str
    format: str
    requests: tuple[Request, ...]
    columns: Columns
    unit: str | None
    problems: tuple[TraceProblem, ...]
    notices: tuple[TraceProblem, ...]
    total_rows: int
    bad_rows: int
    truncated: bool

    @property
    def has_arrivals(self) -> bool:
        """Whether the file says when requests arrive."""
        return self.columns.arrival is not None

    @property
    def has_prompts(self) -> bool:
        """Whether the file says what the prompts share."""
        return self.requests[0].prompt is not None

    @property
    def resorted(self) -> bool:
        """Whether the file's arrivals were out of order."""
        return any(notice.code == "unsorted" for notice in self.notices)
