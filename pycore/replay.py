"""A trace through the engine: totals and a time line kept while it runs, no step kept whole."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import replace

from pycore.assembly import build_engine
from pycore.config import EngineConfig
from pycore.engine import Engine
from pycore.events import NullLog
from pycore.fast_forward import FastForward, Stretch
from pycore.latency import Latencies, Served, Slo, served
from pycore.memory.waste import Waste
from pycore.prefix_cache.prefix_stats import PrefixStats
from pycore.replay_result import ReplayResult
from pycore.request import Request, Sequence
from pycore.time_line import TimeLine

_WASTE = Waste._fields


class Replay:
    """One trace through one engine, as much at a time as the caller likes.

    Attributes:
        num_ended: requests that finished or were rejected so far.
        num_requests: requests in all; where nobody knows, those that have been taken from the iterable.
    """

    def __init__(
        self,
        config: EngineConfig,
        requests: Iterable[Request],
        *,
        num_requests: int | None = None,
        slo: Slo | None = None,
        on_served: Callable[[Served], None] | None = None,
        leaps: bool = True,
    ) -> None:
        """A replay before its first step.

        Args:
            config: the engine's settings.
            requests: in order of arrival; taken one at a time, and not kept once they have ended.
            num_requests: how many they are, where the iterable does not say.
            slo: what is promised to each request.
            on_served: told of each request that finishes, in order; of those of one step in batch order.
            leaps: whether to leap over steps that decide nothing; the result is the same.
        """
        if num_requests is None and isinstance(requests, Sized):
            num_requests = len(requests)
        self.num_requests = num_requests or 0
        if num_requests is None:
            requests = self._counted(requests)
        # Which blocks are handed out makes no difference to a total, and the last freed are the quickest.
        memory = replace(config.memory, free_order="lifo")
        self._engine: Engine = build_engine(replace(config, memory=memory), requests, NullLog())
        self._fast_forward = FastForward(self._engine) if leaps else None
        self._capacity = self._engine.allocator.capacity
        self._max_running = self._max_waiting = self._max_real = 0
        self._fragmented_steps = 0
        self._demand = -1  # of the head of the queue, when the pool was last looked at
        self._waste: Waste | None = None
        self._latencies = Latencies(slo)
        self._on_served = on_served
        self._time_line = TimeLine(("running", "waiting", *_WASTE, "preemptions"))

    def _counted(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            self.num_requests += 1
            yield request

    @property
    def prefix_stats(self) -> PrefixStats | None:
        """What the prefix cache found so far; None without one."""
        return getattr(self._engine.allocator, "stats", None)

    @property
    def num_ended(self) -> int:
        """See the class."""
        scheduler = self._engine.scheduler
        return scheduler.num_finished + scheduler.num_rejected

    @property
    def done(self) -> bool:
        """All requests have ended, or none of those left ever will (see Scheduler.stuck)."""
        return self._engine.done or self._engine.scheduler.stuck

    def advance(self, num_turns: int) -> None:
        """Runs up to `num_turns` steps or leaps, fewer if the trace ends."""
        engine = self._engine
        for _ in range(num_turns):
            if self.done:
                return
            engine.skip_idle()
            finished = self._leap() if self._fast_forward else None
            if finished is None:
                start_ns = engine.now_ns
                finished = engine.step()
                self._observe(start_ns)
            # A request ends with the last of its sequences, of which several may finish in one step.
            for seq in {seq.request.id: seq for seq in finished if not seq.group}.values():
                self._book(seq)

    def _leap(self) -> list[Sequence] | None:
        """Runs all steps at once that decide nothing, and returns who finished; None if there are none."""
        num_ahead = self._fast_forward.num_ahead()
        if not num_ahead:
            return None
        engine = self._engine
        demand = engine.scheduler.demand
        if demand != self._demand:  # of those who have just arrived
            self._demand = demand
            self._waste = engine.allocator.waste(demand)
        fragmented = self._is_fragmented()
        leapt = self._fast_forward.leap_ahead(num_ahead)
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
        overshoots = any(stretch.never)
        start = grown = 0
        never, cached = 0, before.cached
        preemptions = self._engine.scheduler.num_preemptions
        start_ns = stretch.start_ns
        while start < last:
            steps = min(line.num_left, last - start)
            end = start + steps
            until = bisect_left(grown_at, end, grown)
            part = grown_at[grown:until]
            held_sum = size * (steps * grown + len(part) * end - sum(part))
            never_sum, cached_sum = steps * never, steps * cached
            if overshoots:
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
                steps * preemptions,
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
        self._time_line.add(start_ns, (running, waiting, real, *slots, scheduler.num_preemptions))

    def _book(self, seq: Sequence) -> None:
        each = served(seq)
        self._latencies.add(each)
        if self._on_served is not None:
            self._on_served(each)

    def percentiles(self) -> dict[str, list[int]]:
        """See Latencies.percentiles; of the requests that have finished so far."""
        return self._latencies.percentiles()

    def result(self) -> ReplayResult:
        """Totals of the steps run so far."""
        scheduler, latencies = self._engine.scheduler, self._latencies
        steps = max(1, self._engine.num_steps)
        running, waiting, *slots, _ = self._time_line.totals()
        return ReplayResult(
            num_requests=self.num_requests,
            num_finished=scheduler.num_finished,
            num_rejected=scheduler.num_rejected,
            num_preemptions=scheduler.num_preemptions,
            rejected=dict(scheduler.rejected),
            num_steps=self._engine.num_steps,
            end_ns=latencies.end_ns,
            tokens_in=latencies.tokens_in,
            tokens_out=latencies.tokens_out,
            num_recomputed=scheduler.num_recomputed,
            num_tokens_swapped=scheduler.num_tokens_swapped,
            num_in_slo=latencies.num_in_slo,
            num_tokens_in_slo=latencies.num_tokens_in_slo,
            capacity=self._capacity,
            mean={name: total / steps for name, total in zip(_WASTE, slots, strict=True)},
            mean_running=running / steps,
            max_running=self._max_running,
            mean_waiting=waiting / steps,
            max_waiting=self._max_waiting,
            max_real=self._max_real,
            fragmented_steps=self._fragmented_steps,
            **latencies.spreads(),
            time_line=self._time_line.columns(),
        )
