"""The protocol between the clock and whatever knows how long things take."""

from collections.abc import Sequence
from typing import Protocol

from pycore.cost_model.work import Chunk, Decodes
from pycore.scheduling.batch import Batch


class CostModel(Protocol):
    """Batch → time.

    A step is asked for by its batch, or by its work. A stretch is a number of steps in a row that only
    decode, each sequence one token longer in each; asking for a stretch is asking for each of its steps and
    adding up, to the nanosecond, in time that does not grow with their number.

    Attributes:
        needs_lengths: whether `Decodes.lengths` must be given.
    """

    needs_lengths: bool

    def step_ns(self, batch: Batch) -> int:
        """Time of a forward pass over `batch` and of its block copies, in ns; the batch may be empty."""

    def work_ns(self, decodes: Decodes, chunks: Sequence[Chunk] = ()) -> int:
        """Time of one forward pass without block copies, in ns."""

    def stretch_ns(self, decodes: Decodes, steps: int) -> int:
        """Time of `steps` decode steps, in ns; the sum of `work_ns(decodes.after(i))` for i below `steps`."""

    def begun_within(self, decodes: Decodes, ns: int, limit: int) -> tuple[int, int]:
        """How many decode steps begin before `ns` ns have passed, at most `limit`, and how long they take.

        Args:
            decodes: what the first of them computes, for one sequence at least.
            ns, limit: at least 1.
        """
