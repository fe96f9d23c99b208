"""How long a batch takes, in integer nanoseconds."""

from typing import Protocol

from pycore.scheduling.batch import Batch


class CostModel(Protocol):
    """Batch → time."""

    def step_ns(self, batch: Batch) -> int:
        """Time of one forward pass over `batch`, in ns; also asked of an empty batch."""


class FixedStep:
    """Each iteration takes the same time, whatever is in it: for pictures of memory, not for latencies."""

    __slots__ = ("_ns",)

    def __init__(self, ns: int) -> None:
        """Args: ns: time of a step in ns, at least 1."""
        self._ns = ns

    def step_ns(self, batch: Batch) -> int:
        """See CostModel."""
        return self._ns
