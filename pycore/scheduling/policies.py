"""Scheduling policies: plain functions in dicts. A new one is one function and one line."""

from collections.abc import Callable, Iterable

from pycore.request import Sequence
from pycore.scheduling.retraction import fewest_outputs


def latest_arrival(running: Iterable[Sequence]) -> Sequence:
    """The sequence that came last, ties by id: whoever waited longest keeps its memory (vLLM paper, 4.5)."""
    return max(running, key=lambda seq: (seq.request.arrival_ns, seq.id))


VICTIM: dict[str, Callable[[Iterable[Sequence]], Sequence]] = {
    "latest_arrival": latest_arrival,
    "fewest_outputs": fewest_outputs,
}
