"""What the steps of a replay add up to, one by one or a stretch at once: no step is kept whole."""

from collections.abc import Callable
from functools import partial
from operator import mul

from pycore.engine import Engine
from pycore.fast_forward import Stretch
from pycore.memory.waste import Waste
from pycore.time_line import TimeLine

SLOTS = Waste._fields


class StepTotals:
    """Sums, maxima and a time line over the ends of all steps.

    Attributes:
        max_running, max_waiting: most sequences.
        max_real: most real tokens.
        fragmented_steps: steps in which the head of the queue waited though enough slots were free in all.
    """

    def __init__(self, engine: Engine) -> None:
        """Before the first step of `engine`."""
        self.max_running = self.max_waiting = self.max_real = 0
        self.fragmented_steps = 0
        self._engine = engine
        self._scheduler, self._allocator = engine.scheduler, engine.allocator
        self._demand = -1  # of the head of the queue, when the pool was last looked at
        self._waste: tuple[int, ...] = self._allocator.waste(0)  # as the fields of a Waste
        self._fragmented = False
        self._line = TimeLine(("running", "waiting", *SLOTS, "preemptions"))
        self._start: int | Callable[[], int] = 0  # of the point of the line that is being added up
        self._room = self._steps = 0  # steps that it still takes, and that it has
        self._running = self._waiting = self._preemptions = 0
        self._real = self._held = self._internal = self._external = self._cached = 0

    @property
    def time_line(self) -> TimeLine:
        """Running, waiting, the account of the pool, preemptions so far; of all steps."""
        self._hand_over()
        return self._line

    def _hand_over(self) -> None:
        """Adds what was added up so far to the time line."""
        steps, line = self._steps, self._line
        if not steps:
            return
        sums = (
            self._running,
            self._waiting,
            self._real,
            self._held - self._real - self._internal,
            self._internal,
            self._external,
            steps * self._allocator.capacity - self._held - self._external - self._cached,
            self._cached,
            self._preemptions,
        )
        line.add(self._start, sums, steps)
        self._room = line.num_open
        self._steps = self._running = self._waiting = self._preemptions = 0
        self._real = self._held = self._internal = self._external = self._cached = 0

    def _begin_point(self, start: int | Callable[[], int]) -> None:
        """The next step is the first of a point of the time line; `start` says when it began."""
        self._hand_over()
        self._start = start
        self._room = self._line.num_new

    def add_step(self, start: int | Callable[[], int]) -> None:
        """Adds the step that is just over, and began at `start`."""
        scheduler = self._scheduler
        self._demand = demand = scheduler.demand
        self._waste = waste = self._allocator.waste(demand)
        real, reserved, internal, external, _, cached = waste
        running, waiting = len(scheduler.running), len(scheduler.waiting)
        if running > self.max_running:
            self.max_running = running
        if waiting > self.max_waiting:
            self.max_waiting = waiting
        if real > self.max_real:
            self.max_real = real
        if demand and self._is_fragmented():
            self.fragmented_steps += 1
        if not self._room:
            self._begin_point(start)
        self._room -= 1
        self._steps += 1
        self._running += running
        self._waiting += waiting
        self._preemptions += scheduler.num_preemptions
        self._real += real
        self._held += real + reserved + internal
        self._internal += internal
        self._external += external
        self._cached += cached

    def expect_stretch(self) -> None:
        """Notes what there is before a stretch: whoever has arrived since may want more than the head did."""
        demand = self._scheduler.demand
        if demand != self._demand:
            self._demand = demand
            self._waste = self._allocator.waste(demand)
        self._fragmented = demand > 0 and self._is_fragmented()

    def add_stretch(self, stretch: Stretch, finished: bool) -> None:
        """Adds what stepping would have seen at the end of each step of a stretch that was expected.

        No more sequences run than after the step before.

        Args:
            stretch: all of them.
            finished: whether somebody finished in the last, so that the pool has to be looked at.
        """
        num = stretch.num_steps - finished
        if num:
            waiting = len(self._scheduler.waiting)
            self._add_account(stretch, num, waiting)
            if waiting > self.max_waiting:
                self.max_waiting = waiting
            if self._waste[0] > self.max_real:
                self.max_real = self._waste[0]
            if self._fragmented:
                self.fragmented_steps += num
        if finished:
            self.add_step(partial(self._start_ns, stretch, num))

    def _start_ns(self, stretch: Stretch, steps: int) -> int:
        """When a step of a stretch began."""
        return stretch.start_ns + self._engine.cost_model.stretch_ns(stretch.decodes, steps)

    def _is_fragmented(self) -> bool:
        """Whether the head of the queue waits though enough slots are free in all."""
        allocator = self._allocator
        return allocator.largest_free < self._demand <= allocator.num_free

    def _add_account(self, stretch: Stretch, num: int, waiting: int) -> None:
        """Sums the account of the pool over the first `num` steps of a stretch, point by point of the line.

        All of it comes of what was there before, of a token more for each sequence and step, and of blocks
        that are held from a step on.
        """
        real, reserved, internal, external, usable, cached = self._waste
        size, count, grown = self._allocator.block_size, stretch.decodes.count, stretch.grown
        held, free = real + reserved + internal, usable + cached
        preemptions = self._scheduler.num_preemptions
        start = blocks = never_told = cached_told = 0
        while start < num:
            if not self._room:
                self._begin_point(partial(self._start_ns, stretch, start))
            steps = self._room
            if steps > num - start:
                steps = num - start
            end = start + steps
            self._room -= steps
            self._steps += steps
            self._running += steps * count
            self._real += steps * real + count * (steps * (start + end + 1) // 2)
            self._held += steps * held
            if grown:
                part = grown[start:end]
                self._held += size * (steps * blocks + sum(map(mul, part, range(steps, 0, -1))))
                blocks += sum(part)
            if stretch.never:
                total, internal, never_told = _sum_of(stretch.never, start, end, internal, never_told)
                self._internal += total
            else:
                self._internal += steps * internal
            if stretch.cached:
                total, cached, cached_told = _sum_of(stretch.cached, start, end, cached, cached_told)
                self._cached += total
            else:
                self._cached += steps * cached
            if waiting:
                self._waiting += steps * waiting
                self._external += steps * external  # which there is only for somebody who waits
            if preemptions:
                self._preemptions += steps * preemptions
            start = end
        real += num * count
        held += size * blocks
        free -= size * blocks
        self._waste = (real, held - real - internal, internal, external, free - cached, cached)


def _sum_of(
    changes: list[tuple[int, int]], start: int, end: int, level: int, told: int
) -> tuple[int, int, int]:
    """Sums a number that changes in some steps over those from `start` to `end` − 1; all calls are one pass.

    Args:
        changes: step and by how much, in order; the number stays so from there on.
        start, end: of the steps.
        level: the number before `start`.
        told: changes before `start`.

    Returns:
        The sum; `level` and `told` for the next call, which starts at `end`.
    """
    total = level * (end - start)
    while told < len(changes) and changes[told][0] < end:
        step, by = changes[told]
        total += by * (end - step)
        level += by
        told += 1
    return total, level, told
