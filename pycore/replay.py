"""A trace through the engine: totals and a time line kept while it runs, no step kept whole."""

from bisect import bisect_left
from collections.abc import Sequence as Series
from dataclasses import asdict, dataclass, replace

from pycore.config import EngineConfig, build_engine
from pycore.engine import Engine
from pycore.events import NullLog
from pycore.fast_forward import FastForward, Stretch
from pycore.memory.waste import Waste
from pycore.metrics import Spread, spread
from pycore.request import Request, Sequence

MAX_POINTS = 512  # of a time line; twice as many are merged in pairs


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a replay came to. Means are over its steps, of which idle ones are skipped; slots are tokens.

    Attributes:
        num_requests, num_finished, num_rejected, num_preemptions: counts.
        rejected: requests turned away, by reason: "context" (longer than max_len), "pool" (never fits).
        num_steps: iterations run.
        end_ns: simulated time at which the last request finished.
        tokens_in, tokens_out: prompt and output tokens of the finished requests.
        num_recomputed: tokens whose KV was computed again after a preemption.
        capacity: slots in the pool.
        mean: the account of the pool, as means in slots, by name of its field.
        mean_running, max_running, mean_waiting, max_waiting: sequences.
        max_real: most real tokens at the end of a step.
        fragmented_steps: steps in which the head of the queue waited though enough slots were free in all.
        queueing, ttft, end_to_end: ns from arrival to admission, first token, last token.
        time_line: see TimeLine.columns.
    """

    num_requests: int
    num_finished: int
    num_rejected: int
    num_preemptions: int
    rejected: dict[str, int]
    num_steps: int
    end_ns: int
    tokens_in: int
    tokens_out: int
    num_recomputed: int
    capacity: int
    mean: dict[str, float]
    mean_running: float
    max_running: int
    mean_waiting: float
    max_waiting: int
    max_real: int
    fragmented_steps: int
    queueing: Spread
    ttft: Spread
    end_to_end: Spread
    time_line: dict[str, list]

    @property
    def utilisation(self) -> float:
        """Share of the pool that holds real tokens, mean over the steps."""
        return self.mean["real"] / self.capacity

    def as_dict(self) -> dict:
        """All of it as plain JSON."""
        return {**asdict(self), "utilisation": self.utilisation}


class TimeLine:
    """Means of a few series over equal stretches of steps; memory is bounded however long the run is.

    >>> line = TimeLine(("running",), max_points=2)
    >>> for step in range(8):
    ...     line.add(step, (step,))
    >>> line.columns()
    {'now_ns': [0, 4], 'running': [1.5, 5.5]}
    """

    def __init__(self, names: Series[str], max_points: int = MAX_POINTS) -> None:
        """An empty line of at most `max_points` points, an even number; `names` of the series."""
        self._names = tuple(names)
        self._max_points = max_points
        self._stride = 1  # steps a point
        self._in_last = 1  # steps in the last point
        self._starts: list[int] = []
        self._sums: list[list[int]] = []

    def add(self, start_ns: int, sums: Series[int], num_steps: int = 1) -> None:
        """Adds steps that lie in one point, see `num_left`.

        Args:
            start_ns: when the first of them began.
            sums: of each series over these steps, in the order of the names.
            num_steps: how many.
        """
        if self._sums and self._in_last < self._stride:
            last = self._sums[-1]
            for i, value in enumerate(sums):
                last[i] += value
            self._in_last += num_steps
            return
        if len(self._sums) == self._max_points:
            pairs = zip(self._sums[::2], self._sums[1::2], strict=True)
            self._sums = [[a + b for a, b in zip(*pair, strict=True)] for pair in pairs]
            self._starts = self._starts[::2]
            self._stride *= 2
        self._starts.append(start_ns)
        self._sums.append(list(sums))
        self._in_last = num_steps

    @property
    def num_left(self) -> int:
        """The most steps that can be added at once: those that the last point still takes, or a new one."""
        if self._sums and self._in_last < self._stride:
            return self._stride - self._in_last
        return 2 * self._stride if len(self._sums) == self._max_points else self._stride

    def totals(self) -> list[int]:
        """The sum of each series over all steps."""
        return [sum(sums) for sums in zip(*self._sums, strict=True)] or [0] * len(self._names)

    def columns(self) -> dict[str, list]:
        """When each point begins (ns), and the mean of each series in it."""
        steps = [self._stride] * len(self._sums)
        if steps:
            steps[-1] = self._in_last
        series = {
            name: [sums[i] / n for sums, n in zip(self._sums, steps, strict=True)]
            for i, name in enumerate(self._names)
        }
        return {"now_ns": list(self._starts), **series}


_WASTE = Waste._fields


class Replay:
    """One trace through one engine, as many steps at a time as the caller likes.

    Attributes:
        num_ended: requests that finished or were rejected so far.
        num_requests: requests in all.
    """

    def __init__(self, config: EngineConfig, requests: Series[Request], *, leaps: bool = True) -> None:
        """A replay before its first step.

        Args:
            config: the engine's settings.
            requests: in order of arrival.
            leaps: whether to leap over steps that decide nothing; the result is the same.
        """
        self.num_requests = len(requests)
        # Which blocks are handed out makes no difference to a total, and the last freed are the quickest.
        memory = replace(config.memory, free_order="lifo")
        self._engine: Engine = build_engine(replace(config, memory=memory), requests, NullLog())
        self._fast_forward = FastForward(self._engine) if leaps else None
        self._capacity = self._engine.allocator.capacity
        self._max_running = self._max_waiting = self._max_real = 0
        self._fragmented_steps = 0
        self._demand = -1  # of the head of the queue, when the pool was last looked at
        self._waste: Waste | None = None
        self._end_ns = 0
        self._tokens_in = self._tokens_out = 0
        self._queueing: list[int] = []
        self._ttft: list[int] = []
        self._end_to_end: list[int] = []
        self._time_line = TimeLine(("running", "waiting", *_WASTE))

    @property
    def num_ended(self) -> int:
        """See the class."""
        scheduler = self._engine.scheduler
        return scheduler.num_finished + scheduler.num_rejected

    @property
    def done(self) -> bool:
        """All requests have ended, or none of those left ever will (see Scheduler.stuck)."""
        return self._engine.done or self._engine.scheduler.stuck

    def advance(self, num_steps: int) -> None:
        """Runs up to `num_steps` iterations, fewer if the trace ends."""
        engine = self._engine
        end = engine.num_steps + num_steps
        while engine.num_steps < end and not self.done:
            engine.skip_idle()
            finished = self._leap(end - engine.num_steps) if self._fast_forward else None
            if finished is None:
                start_ns = engine.now_ns
                finished = engine.step()
                self._observe(start_ns)
            for seq in finished:
                self._book(seq)

    def _leap(self, limit: int) -> list[Sequence] | None:
        """Runs up to `limit` steps at once and returns who finished; None if that cannot be done."""
        engine = self._engine
        engine.receive_arrivals()
        demand = engine.scheduler.demand
        if demand != self._demand:  # of those who have just arrived
            self._demand = demand
            self._waste = engine.allocator.waste(demand)
        fragmented = self._is_fragmented()
        leapt = self._fast_forward.leap(limit)
        if leapt is None:
            return None
        stretch, finished = leapt
        self._observe_stretch(stretch, fragmented)
        return finished

    def _observe_stretch(self, stretch: Stretch, fragmented: bool) -> None:
        """Adds up what stepping would have seen at the end of each step."""
        last = stretch.num_steps - 1
        if last:
            count, waiting = stretch.decodes.count, len(self._engine.scheduler.waiting)
            self._add_account(stretch, count, waiting, last)
            self._max_running = max(self._max_running, count)
            self._max_waiting = max(self._max_waiting, waiting)
            self._max_real = max(self._max_real, self._waste.real + count * last)
            self._fragmented_steps += last * fragmented
        self._observe(stretch.last_ns)

    def _add_account(self, stretch: Stretch, count: int, waiting: int, last: int) -> None:
        """Sums the account of the pool over the first `last` steps of a stretch, point by point of the line.

        All of it comes of what was there before, of a token more for each sequence and step, and of blocks
        that are held from a step on.
        """
        before, line, size = self._waste, self._time_line, self._engine.allocator.block_size
        grown_at = stretch.grown_at
        start = grown = 0
        never, cached = 0, before.cached
        start_ns = stretch.start_ns
        while start < last:
            steps = min(line.num_left, last - start)
            end = start + steps
            until = bisect_left(grown_at, end, grown)
            part = grown_at[grown:until]
            held_sum = size * (steps * grown + len(part) * end - sum(part))
            never_sum, cached_sum = steps * never, steps * cached
            for step, over in zip(part, stretch.never[grown:until], strict=True):
                if over:
                    never += over
                    never_sum += over * (end - step)
            if stretch.cached:
                for step, left in zip(part, stretch.cached[grown:until], strict=True):
                    cached_sum -= (cached - left) * (end - step)
                    cached = left
            grown = until
            real_sum = steps * before.real + count * (steps * start + steps * (steps + 1) // 2)
            sums = (
                steps * count,
                steps * waiting,
                real_sum,
                steps * (before.real + before.reserved) + held_sum - never_sum - real_sum,
                steps * before.internal + never_sum,
                steps * before.external,
                steps * (before.usable + before.cached) - held_sum - cached_sum,
                cached_sum,
            )
            if start:
                ahead = self._engine.cost_model.stretch_ns(stretch.decodes, start)
                start_ns = stretch.start_ns + ahead
            line.add(start_ns, sums, steps)
            start = end

    def _is_fragmented(self) -> bool:
        """Whether the head of the queue waits though enough slots are free in all."""
        allocator, demand = self._engine.allocator, self._demand
        return demand > 0 and allocator.largest_free < demand <= allocator.num_free

    def _observe(self, start_ns: int) -> None:
        scheduler = self._engine.scheduler
        self._demand = scheduler.demand
        self._waste = waste = self._engine.allocator.waste(self._demand)
        running, waiting, real = len(scheduler.running), len(scheduler.waiting), waste.real
        if running > self._max_running:
            self._max_running = running
        if waiting > self._max_waiting:
            self._max_waiting = waiting
        if real > self._max_real:
            self._max_real = real
        self._fragmented_steps += self._is_fragmented()
        slots = (waste.reserved, waste.internal, waste.external, waste.usable, waste.cached)
        self._time_line.add(start_ns, (running, waiting, real, *slots))

    def _book(self, seq: Sequence) -> None:
        request = seq.request
        self._queueing.append(seq.admitted_ns - request.arrival_ns)
        self._ttft.append(seq.first_token_ns - request.arrival_ns)
        self._end_to_end.append(seq.finished_ns - request.arrival_ns)
        self._end_ns = seq.finished_ns
        self._tokens_in += request.prompt_len
        self._tokens_out += seq.num_generated

    def result(self) -> ReplayResult:
        """Totals of the steps run so far."""
        scheduler = self._engine.scheduler
        steps = max(1, self._engine.num_steps)
        running, waiting, *slots = self._time_line.totals()
        return ReplayResult(
            num_requests=self.num_requests,
            num_finished=scheduler.num_finished,
            num_rejected=scheduler.num_rejected,
            num_preemptions=scheduler.num_preemptions,
            rejected=dict(scheduler.rejected),
            num_steps=self._engine.num_steps,
            end_ns=self._end_ns,
            tokens_in=self._tokens_in,
            tokens_out=self._tokens_out,
            num_recomputed=scheduler.num_recomputed,
            capacity=self._capacity,
            mean={name: total / steps for name, total in zip(_WASTE, slots, strict=True)},
            mean_running=running / steps,
            max_running=self._max_running,
            mean_waiting=waiting / steps,
            max_waiting=self._max_waiting,
            max_real=self._max_real,
            fragmented_steps=self._fragmented_steps,
            queueing=spread(self._queueing),
            ttft=spread(self._ttft),
            end_to_end=spread(self._end_to_end),
            time_line=self._time_line.columns(),
        )
