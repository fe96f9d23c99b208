"""Scheduling policies: plain functions in dicts. A new one is one function and one line."""

from collections.abc import Callable
from collections.abc import Sequence as Series

from pycore.request import Sequence
from pycore.scheduling.retraction import fewest_outputs


def latest_arrival(running: Series[Sequence]) -> Sequence:
    """The sequence that came last, ties by id: whoever waited longest keeps its memory (vLLM paper, 4.5)."""
    return max(running, key=by_arrival)


def last_running(running: Series[Sequence]) -> Sequence:
    """The sequence that was admitted last (vLLM V1)."""
    return running[-1]


def least_important(running: Series[Sequence]) -> Sequence:
    """The sequence of the highest priority number, of these the latest (vLLM V1 by priority)."""
    return max(running, key=by_priority)


def most_outputs(running: Series[Sequence]) -> Sequence:
    """The sequence that has generated most, of these the latest: it gives back most, and loses most."""
    return max(running, key=lambda seq: (seq.num_generated, *by_arrival(seq)))


def by_arrival(seq: Sequence) -> tuple[int, int]:
    """The one that came first first, ties by the request's id: its sequences are one thing."""
    return seq.request.arrival_ns, seq.request.id


def by_priority(seq: Sequence) -> tuple[int, int, int]:
    """The most important first, ties by arrival."""
    return seq.request.priority, *by_arrival(seq)


def by_length(seq: Sequence) -> tuple[int, int, int]:
    """The shortest prompt first, ties by arrival: nobody knows how long the output will be."""
    return seq.request.prompt_len, *by_arrival(seq)


# Given the running list in order of admission, whom to preempt.
VICTIM: dict[str, Callable[[Series[Sequence]], Sequence]] = {
    "latest_arrival": latest_arrival,
    "last_running": last_running,
    "least_important": least_important,
    "fewest_outputs": fewest_outputs,
    "most_outputs": most_outputs,
}

# Who stands where in the waiting queue: by a key, or (None) new ones behind and preempted ones in front.
QUEUE: dict[str, Callable[[Sequence], tuple[int, int, int]] | None] = {
    "fcfs": None,
    "priority": by_priority,
    "shortest": by_length,
}
