"""A clock of equal steps."""

from collections.abc import Sequence

from pycore.cost_model.work import Chunk, Decodes
from pycore.scheduling.batch import Batch


class FixedStep:
    """Each iteration takes the same time, whatever is in it: for pictures of memory, not for latencies."""

    __slots__ = ("_ns",)

    needs_lengths = False

    def __init__(self, ns: int) -> None:
        """Args: ns: time of a step in ns, at least 1."""
        self._ns = ns

    def step_ns(self, batch: Batch) -> int:
        """See CostModel."""
        return self._ns

    def work_ns(self, decodes: Decodes, chunks: Sequence[Chunk] = ()) -> int:
        """See CostModel."""
        return self._ns

    def stretch_ns(self, decodes: Decodes, steps: int) -> int:
        """See CostModel."""
        return steps * self._ns

    def begun_within(self, decodes: Decodes, ns: int, limit: int) -> tuple[int, int]:
        """See CostModel."""
        steps = min(limit, -(-ns // self._ns))
        return steps, steps * self._ns
