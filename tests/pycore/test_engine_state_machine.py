"""Any load on any engine: every request ends once, no token is lost, the run ends, nobody starves."""

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from pycore.assembly import build_engine
from pycore.config import EngineConfig, SchedulerConfig
from pycore.events import Admitted, Arrived, EventLog, Finished, Preempted, Recovered, Rejected, Waiting
from pycore.request import Request
from tests.pycore.build import MEMORY_CHOICES, memory_config

MAX_LEN = 28


class EngineMachine(RuleBasedStateMachine):
    """Steps and time leaps on a random load; what the events tell is held against the engine's own state."""

    choice: str

    @initialize(
        num_blocks=st.integers(1, 20),
        block_size=st.integers(1, 6),
        watermark=st.sampled_from([0, 0.01, 0.1, 0.5, 1]),
        max_num_seqs=st.sampled_from([1, 2, 5, 256]),
        lengths=st.lists(st.tuples(st.integers(1, 20), st.integers(1, 12), st.integers(0, 5)), max_size=14),
    )
    def fresh_engine(self, num_blocks, block_size, watermark, max_num_seqs, lengths):
        config = EngineConfig(
            memory=memory_config(self.choice, num_blocks, block_size),
            scheduler=SchedulerConfig(watermark=watermark, max_num_seqs=max_num_seqs),
            max_len=MAX_LEN,
            step_ns=1,
        )
        self.requests, arrival = [], 0
        for id, (prompt, output, gap) in enumerate(lengths):
            arrival += gap
            self.requests.append(Request(id, arrival, prompt, output))
        self.engine = build_engine(config, self.requests, EventLog())
        self.max_num_seqs = max_num_seqs
        self.ends: Counter[int] = Counter()
        self.arrived: list[int] = []
        self.emitted: Counter[int] = Counter()
        self.admissions: list[int] = []

    def step(self):
        scheduler = self.engine.scheduler
        tokens = {seq.id: seq.num_tokens for seq in scheduler.running}
        head = scheduler.waiting[0] if scheduler.waiting else None
        was_idle = scheduler.idle
        finished = self.engine.step()
        self.engine.check()
        events = self.engine.log.drain()
        self.follow(events)
        # Whoever holds memory after the step, or gave it back at its end, emitted one token; nobody else did.
        preempted = [event.seq for event in events if isinstance(event, Preempted)]
        started = [event.seq for event in events if isinstance(event, Admitted | Recovered)]
        ran = [seq.id for seq in scheduler.running] + [seq.id for seq in finished]
        assert sorted(ran) == sorted([id for id in tokens if id not in preempted] + started)
        self.emitted.update(ran)
        for seq in scheduler.running:
            assert seq.num_tokens == seq.request.prompt_len + self.emitted[seq.id]
            assert seq.num_computed == seq.num_tokens - 1
        assert ran or was_idle, "a step with somebody to run ran nobody"
        assert not (preempted and started), "somebody was admitted in a step that preempted"
        if head is not None and not preempted and started:
            assert started[0] == head.id, "somebody passed the head of the queue"
        assert self.admitted_in_order_of_arrival()

    def follow(self, events):
        """Holds the events against each other."""
        for event in events:
            match event:
                case Arrived(seq=id):
                    self.arrived.append(id)
                case Rejected(seq=id) | Finished(seq=id):
                    self.ends[id] += 1
                    assert self.ends[id] == 1
                case Admitted(seq=id, num_tokens=n):
                    self.admissions.append(id)
                    assert n == self.requests[id].prompt_len
                case Recovered(seq=id, num_tokens=n):
                    assert n == self.requests[id].prompt_len + self.emitted[id]
                case Waiting(needed=needed, free=free, largest_free=largest, reason=reason):
                    assert largest <= free
                    if reason == "memory":
                        assert needed > free
                    elif reason == "fragmented":
                        assert largest < needed <= free
                    elif reason == "watermark":
                        assert needed <= largest
                    else:
                        assert reason in ("batch", "preempted")
        for event in events:
            if isinstance(event, Finished):
                assert event.num_generated == self.requests[event.seq].output_len

    def admitted_in_order_of_arrival(self) -> bool:
        return self.admissions == sorted(self.admissions)

    @rule()
    def one_step(self):
        self.step()

    @rule(times=st.integers(2, 12))
    def several_steps(self, times):
        for _ in range(times):
            self.step()

    @rule()
    def skip_idle(self):
        idle, now = self.engine.scheduler.idle, self.engine.now_ns
        self.engine.skip_idle()
        assert self.engine.now_ns >= now
        assert idle or self.engine.now_ns == now

    @invariant()
    def everyone_who_arrived_is_in_one_place(self):
        scheduler = self.engine.scheduler
        here = [seq.id for seq in scheduler.running] + [seq.id for seq in scheduler.waiting]
        assert sorted(here + list(self.ends)) == sorted(self.arrived) == list(range(len(self.arrived)))
        assert scheduler.num_finished + scheduler.num_rejected == len(self.ends)
        assert len(scheduler.running) <= self.max_num_seqs
        waiting = [seq.id for seq in scheduler.waiting]
        assert waiting == sorted(waiting)

    def teardown(self):
        """The rest of the run ends: each step that is not idle emits at least one of the tokens asked for."""
        if not hasattr(self, "engine"):
            return
        bound = sum(request.output_len for request in self.requests) + len(self.requests) + 1
        for _ in range(bound):
            if self.engine.done:
                break
            self.engine.skip_idle()
            self.step()
        assert self.engine.done, f"not done after {bound} more steps"
        assert self.ends == Counter(range(len(self.requests)))
        for request in self.requests:
            assert self.emitted[request.id] in (0, request.output_len)
        assert sum(1 for n in self.emitted.values() if n) == self.engine.scheduler.num_finished
        assert self.engine.allocator.num_free == self.engine.allocator.capacity
        if "contiguous" in self.choice:
            assert self.engine.scheduler.num_preemptions == 0


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
def test_every_request_ends_once_whatever_the_load(choice):
    machine = type("Machine", (EngineMachine,), {"choice": choice})
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=8))
