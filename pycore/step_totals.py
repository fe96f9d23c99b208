"""What the steps of a replay add up to, one by one or a stretch at once: no step is kept whole."""

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
        time_line: running, waiting, the account of the pool, preemptions so far.
    """

    def __init__(self, engine: Engine) -> None:
        """Before the first step of `engine`."""
        self.max_running = self.max_waiting = self.max_real = 0
        self.fragmented_steps = 0
        self.time_line = TimeLine(("running", "waiting", *SLOTS, "preemptions"))
        self._engine = engine
        self._scheduler, self._allocator = engine.scheduler, engine.allocator
        self._demand = -1  # of the head of the queue, when the pool was last looked at
        self._waste: tuple[int, ...] = self._allocator.waste(0)  # as the fields of a Waste
        self._fragmented = False

    def add_step(self, start_ns: int) -> None:
        """Adds the step that began at `start_ns` and is just over."""
        scheduler = self._scheduler
        self._demand = demand = scheduler.demand
        self._waste = waste = self._allocator.waste(demand)
        running, waiting, real = len(scheduler.running), len(scheduler.waiting), waste[0]
        if running > self.max_running:
            self.max_running = running
        if waiting > self.max_waiting:
            self.max_waiting = waiting
        if real > self.max_real:
            self.max_real = real
        if demand and self._is_fragmented():
            self.fragmented_steps += 1
        self.time_line.add(start_ns, (running, waiting, *waste, scheduler.num_preemptions))

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
            self.add_step(0 if self.time_line.num_open else self._start_ns(stretch, num))

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
        line, size, count = self.time_line, self._allocator.block_size, stretch.decodes.count
        preemptions = self._scheduler.num_preemptions
        ever, free = real + reserved, usable + cached
        grown = stretch.grown
        start = blocks = 0
        while start < num:
            if line.num_open:
                start_ns, steps = 0, line.num_open  # the line does not want to know when
            else:
                start_ns, steps = self._start_ns(stretch, start), line.num_new
            if steps > num - start:
                steps = num - start
            end = start + steps
            held_sum = never_sum = 0
            cached_sum = steps * cached
            if grown:
                part = grown[start:end]
                held_sum = size * (steps * blocks + sum(map(mul, part, range(steps, 0, -1))))
                blocks += sum(part)
            if stretch.never:
                never_sum = _sum_of(stretch.never, start, end)
            if stretch.cached:
                cached_sum += _sum_of(stretch.cached, start, end)
            real_sum = steps * real + count * (steps * (start + end + 1) // 2)
            sums = (
                steps * count,
                steps * waiting,
                real_sum,
                steps * ever + held_sum - never_sum - real_sum,
                steps * internal + never_sum,
                steps * external,
                steps * free - held_sum - cached_sum,
                cached_sum,
                steps * preemptions,
            )
            line.add(start_ns, sums, steps)
            start = end
        real += num * count
        held, never = size * blocks, 0
        if stretch.never:
            never = sum([by for step, by in stretch.never if step < num])
        if stretch.cached:
            cached += sum([by for step, by in stretch.cached if step < num])
        self._waste = (
            real,
            ever + held - never - real,
            internal + never,
            external,
            free - held - cached,
            cached,
        )


def _sum_of(changes: list[tuple[int, int]], start: int, end: int) -> int:
    """What changes by a number in a step and stays so, summed over the steps from `start` to `end` − 1."""
    return sum([by * (end - max(step, start)) for step, by in changes if step < end])
