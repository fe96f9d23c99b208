"""The serving engine: start reading here."""

from collections.abc import Iterable

from pycore.cost_model import CostModel
from pycore.events import EventLog, NullLog
from pycore.memory.allocator import KVAllocator
from pycore.model_runner import ModelRunner
from pycore.request import Request, Sequence
from pycore.scheduling.scheduler import Scheduler

NEVER = 1 << 62  # ns; later than anything


class Engine:
    """Continuous batching, one iteration a step.

    Attributes:
        now_ns: simulated time in ns.
        num_steps: steps so far.
        next_arrival_ns: when the next request arrives that was not received yet; NEVER if none does.
        scheduler, allocator: the parts, to look at.
        runner, cost_model: what computes, and how long that takes.
        log: events of the steps, until somebody drains it.
    """

    def __init__(
        self,
        requests: Iterable[Request],
        scheduler: Scheduler,
        allocator: KVAllocator,
        runner: ModelRunner,
        cost_model: CostModel,
        log: EventLog | NullLog,
    ) -> None:
        """An engine before its first step. `requests` are in order of arrival."""
        self.now_ns = 0
        self.num_steps = 0
        self.scheduler = scheduler
        self.allocator = allocator
        self.log = log
        self.runner = runner
        self.cost_model = cost_model
        self._requests = iter(requests)
        self._take_next()

    def step(self, arrived_by_ns: int | None = None) -> list[Sequence]:
        """Runs one iteration.

        Args:
            arrived_by_ns: when it is decided. An engine that schedules a step while the one before runs knows
                of nobody who has arrived since that began. None: when it begins.

        Returns:
            The sequences that finished in it.
        """
        self.receive_arrivals(arrived_by_ns)
        batch = self.scheduler.schedule(self.now_ns)
        outcome = self.runner.run(batch)
        self.now_ns += self.cost_model.step_ns(batch)
        self.num_steps += 1
        return self.scheduler.advance(batch, outcome, self.now_ns)

    def receive_arrivals(self, by_ns: int | None = None) -> None:
        """Queues the requests that have arrived by `by_ns`; by now, if it is None."""
        if by_ns is None:
            by_ns = self.now_ns
        while self.next_arrival_ns <= by_ns:
            self.scheduler.add(self._next)
            self._take_next()

    def _take_next(self) -> None:
        self._next = next(self._requests, None)
        self.next_arrival_ns = NEVER if self._next is None else self._next.arrival_ns

    def skip_idle(self) -> None:
        """When nothing runs or waits, moves the clock to the next arrival."""
        if self.scheduler.idle and self._next is not None:
            self.now_ns = max(self.now_ns, self._next.arrival_ns)

    @property
    def done(self) -> bool:
        """All requests have finished or were rejected."""
        return self._next is None and self.scheduler.idle

    def check(self) -> None:
        """Raises AssertionError if an invariant of scheduler or memory is broken."""
        self.scheduler.check()
