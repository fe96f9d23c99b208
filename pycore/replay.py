"""A trace through the engine: totals and a time line kept while it runs, no step kept whole."""

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import replace

from pycore.assembly import build_engine
from pycore.config import EngineConfig
from pycore.engine import Engine
from pycore.events import NullLog
from pycore.fast_forward import FastForward
from pycore.latency import Latencies, Served, Slo, served
from pycore.prefix_cache.prefix_stats import PrefixStats
from pycore.replay_result import ReplayResult
from pycore.request import Request, Sequence
from pycore.step_totals import SLOTS, StepTotals


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
        self._engine: Engine = build_engine(replace(config, memory=memory), requests, NullLog(), counts=leaps)
        self._fast_forward = FastForward(self._engine) if leaps else None
        self._capacity = self._engine.allocator.capacity
        self._totals = StepTotals(self._engine)
        self._latencies = Latencies(slo)
        self._on_served = on_served

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
        engine, scheduler = self._engine, self._engine.scheduler
        for _ in range(num_turns):
            if scheduler.idle:
                if engine.done:
                    return
                engine.skip_idle()
            elif scheduler.stuck:
                return
            finished = self._leap() if self._fast_forward else None
            if finished is None:
                start_ns = engine.now_ns
                finished = engine.step()
                self._totals.add_step(start_ns)
            if finished:
                self._book(finished)

    def _leap(self) -> list[Sequence] | None:
        """Runs all steps at once that decide nothing, and returns who finished; None if there are none."""
        num_ahead = self._fast_forward.num_ahead()
        if not num_ahead:
            return None
        self._totals.expect_stretch()
        leapt = self._fast_forward.leap_ahead(num_ahead)
        if leapt is None:
            return None
        stretch, finished = leapt
        self._totals.add_stretch(stretch, bool(finished))
        return finished

    def _book(self, finished: list[Sequence]) -> None:
        # A request ends with the last of its sequences, of which several may finish in one step.
        for seq in {seq.request.id: seq for seq in finished if not seq.group}.values():
            each = served(seq)
            self._latencies.add(each)
            if self._on_served is not None:
                self._on_served(each)

    def percentiles(self) -> dict[str, list[int]]:
        """See Latencies.percentiles; of the requests that have finished so far."""
        return self._latencies.percentiles()

    def result(self) -> ReplayResult:
        """Totals of the steps run so far."""
        scheduler, latencies, totals = self._engine.scheduler, self._latencies, self._totals
        steps = max(1, self._engine.num_steps)
        time_line = totals.time_line
        running, waiting, *slots, _ = time_line.totals()
        hung = scheduler.stuck
        return ReplayResult(
            num_requests=self.num_requests,
            num_finished=scheduler.num_finished,
            num_rejected=scheduler.num_rejected,
            num_preemptions=scheduler.num_preemptions,
            rejected=dict(scheduler.rejected),
            num_hung=self.num_requests - self.num_ended if hung else 0,
            hung_on=min(scheduler.outgrown, default=None) if hung else None,
            num_steps=self._engine.num_steps,
            end_ns=latencies.end_ns,
            tokens_in=latencies.tokens_in,
            tokens_out=latencies.tokens_out,
            num_recomputed=scheduler.num_recomputed,
            num_tokens_swapped=scheduler.num_tokens_swapped,
            num_in_slo=latencies.num_in_slo,
            num_tokens_in_slo=latencies.num_tokens_in_slo,
            capacity=self._capacity,
            mean={name: total / steps for name, total in zip(SLOTS, slots, strict=True)},
            mean_running=running / steps,
            max_running=totals.max_running,
            mean_waiting=waiting / steps,
            max_waiting=totals.max_waiting,
            max_real=totals.max_real,
            fragmented_steps=totals.fragmented_steps,
            **latencies.spreads(),
            time_line=time_line.columns(),
        )
