import pytest

from pycore.events import (
    Admitted,
    Arrived,
    BlocksAllocated,
    BlocksFreed,
    Finished,
    Preempted,
    Recovered,
    Rejected,
    Waiting,
)
from pycore.request import Status
from pycore.scheduling.outcome import Outcome
from tests.pycore.build import engine, run, step


def of_kind(events, *kinds):
    return [event for event in events if isinstance(event, kinds)]


def ids(seqs):
    return [seq.id for seq in seqs]


class TestAdmission:
    def test_first_come_first_served(self):
        started = engine([(4, 9), (4, 9), (4, 9)])
        events = step(started)
        assert of_kind(events, Admitted) == [Admitted(0, 4), Admitted(1, 4), Admitted(2, 4)]
        assert ids(started.scheduler.running) == [0, 1, 2]

    def test_the_head_blocks_all_behind_it(self):
        started = engine([(9, 3), (10, 3), (1, 1)], num_blocks=4)
        events = step(started)
        assert of_kind(events, Admitted) == [Admitted(0, 9)]
        assert of_kind(events, Waiting) == [
            Waiting(1, 12, 4, 4, "memory")
        ]  # r2 would fit into the free block
        assert ids(started.scheduler.waiting) == [1, 2]
        assert started.scheduler.head_needed == 12

    def test_a_prompt_emits_its_first_token_in_the_step_of_its_admission(self):
        started = engine([(5, 3)])
        step(started)
        [seq] = started.scheduler.running
        assert (seq.num_computed, seq.num_tokens, seq.num_generated) == (5, 6, 1)
        assert (seq.admitted_ns, seq.first_token_ns, seq.finished_ns) == (0, 1, None)

    def test_a_request_of_one_output_token_leaves_in_the_step_it_came(self):
        started = engine([(5, 1)])
        events = step(started)
        assert [type(event) for event in events] == [
            Arrived, BlocksAllocated, Admitted, Finished, BlocksFreed
        ]  # fmt: skip
        assert started.done
        assert started.allocator.num_free == 64

    def test_no_more_run_than_max_num_seqs(self):
        started = engine([(1, 2), (1, 3), (1, 2)], max_num_seqs=2)
        events = step(started)
        assert of_kind(events, Waiting) == [Waiting(2, 4, 56, 56, "batch")]
        step(started)
        assert ids(started.scheduler.running) == [1]
        assert of_kind(step(started), Admitted) == [Admitted(2, 1)]

    def test_slots_at_the_end_are_prompt_plus_output_less_one(self):
        started = engine([(4, 5)])
        step(started, 4)
        assert started.allocator.memory_map().tokens == (7,)
        assert started.allocator.memory_map().held == (8,)  # the ninth token never needs a slot
        assert of_kind(step(started), Finished) == [Finished(0, 5)]


class TestWatermark:
    def test_an_admission_leaves_blocks_free_while_others_run(self):
        # 2 of 10 blocks stay free: 4 + 4 + 2 = 10, but not 4 + 5 + 2.
        assert ids(self.running(engine([(16, 2), (16, 2)], num_blocks=10, watermark=0.2))) == [0, 1]
        started = engine([(16, 2), (17, 2)], num_blocks=10, watermark=0.2)
        assert of_kind(step(started), Waiting) == [Waiting(1, 20, 24, 24, "watermark")]

    def test_an_empty_pool_takes_even_what_leaves_no_headroom(self):
        started = engine([(40, 1)], num_blocks=10, watermark=0.5)
        assert of_kind(step(started), Finished) == [Finished(0, 1)]

    def test_even_a_watermark_of_the_whole_pool_starves_nobody(self):
        started = engine([(4, 3)] * 4, num_blocks=4, watermark=1)
        events = run(started, bound=13)
        assert of_kind(events, Finished) == [Finished(i, 3) for i in range(4)]

    def test_growth_may_use_the_headroom(self):
        started = engine([(4, 9), (4, 9)], num_blocks=6, watermark=0.34)
        step(started, 6)
        assert started.allocator.num_free == 0
        assert started.scheduler.num_preemptions == 0

    def test_the_share_is_rounded_down_to_whole_blocks(self):
        assert ids(self.running(engine([(4, 2)] * 3, num_blocks=3, watermark=0.3))) == [0, 1, 2]

    @staticmethod
    def running(started):
        step(started)
        return started.scheduler.running


class TestPreemption:
    def test_the_latest_arrival_loses_all_and_waits_at_the_front(self):
        started = engine([(4, 9), (4, 9), (4, 9)], num_blocks=5)
        step(started)
        _, last = started.scheduler.running[1:]
        events = step(started)
        # r0 and r1 take the two free blocks; there is none for r2, the latest, itself.
        assert of_kind(events, Preempted) == [Preempted(seq=2, by=2, num_lost=4)]
        assert (last.num_computed, last.num_tokens, last.status) == (0, 5, Status.WAITING)
        assert last.preemptions == started.scheduler.num_preemptions == 1
        assert ids(started.scheduler.waiting) == [2]
        assert ids(started.scheduler.running) == [0, 1]

    def test_one_victim_after_another_and_all_queue_in_order_of_arrival(self):
        started = engine([(4, 9), (4, 9), (3, 9), (3, 9), (1, 1, 2)], num_blocks=4)
        step(started)
        events = step(started)
        assert of_kind(events, Preempted) == [
            Preempted(seq=3, by=0, num_lost=3),
            Preempted(seq=2, by=1, num_lost=3),
        ]
        assert of_kind(events, Waiting) == [Waiting(2, 4, 0, 0, "preempted")]
        assert of_kind(step(started), Waiting) == [Waiting(2, 4, 0, 0, "memory")]
        assert ids(started.scheduler.running) == [0, 1]
        assert ids(started.scheduler.waiting) == [2, 3, 4]

    def test_all_of_a_victims_blocks_come_back(self):
        started = engine([(4, 9), (12, 5)], num_blocks=4)
        step(started)
        events = step(started)
        assert of_kind(events, Preempted) == [Preempted(seq=1, by=0, num_lost=12)]
        assert of_kind(events, BlocksFreed) == [BlocksFreed(1, (1, 2, 3), 3)]
        assert started.allocator.memory_map().seqs == (0,)

    def test_nobody_is_admitted_in_a_step_that_preempted(self):
        started = engine([(4, 9), (12, 5), (1, 1)], num_blocks=4)
        step(started)
        events = step(started)  # two blocks are free now, r2 needs one
        assert of_kind(events, Admitted, Recovered) == []
        assert of_kind(events, Waiting) == [Waiting(1, 16, 8, 8, "preempted")]

    def test_nobody_is_admitted_before_the_preempted_one_has_recovered(self):
        started = engine([(4, 9), (12, 5), (1, 1)], num_blocks=4)
        events = []
        for _ in range(9):
            events += step(started)
        assert of_kind(events, Admitted) == [Admitted(0, 4), Admitted(1, 12)]
        assert of_kind(events, Finished) == [Finished(0, 9)]
        assert of_kind(step(started), Recovered, Admitted) == [Recovered(1, 13)]

    def test_recovery_computes_prompt_and_generated_tokens_and_goes_on(self):
        started = engine([(4, 9), (3, 7)], num_blocks=3)
        events = step(started, 2) + step(started)
        assert Preempted(seq=1, by=1, num_lost=4) in events
        [seq] = started.scheduler.waiting
        assert seq.num_generated == 2
        events = run(started)
        assert of_kind(events, Recovered) == [Recovered(1, 5)]
        assert of_kind(events, Finished) == [Finished(0, 9), Finished(1, 7)]
        assert (seq.num_tokens, seq.num_computed) == (10, 9)
        assert (seq.admitted_ns, seq.first_token_ns, seq.preemptions) == (0, 1, 1)

    def test_lost_tokens_are_counted(self):
        started = engine([(4, 9), (12, 5)], num_blocks=4)
        step(started)
        assert started.scheduler.num_recomputed == 0
        step(started)
        assert started.scheduler.num_recomputed == 12

    def test_a_sequence_already_in_the_batch_can_be_the_victim(self):
        # With another policy the victim may have been scheduled before in the same step.
        started = engine([(4, 9), (4, 9), (4, 9)], num_blocks=5)
        started.scheduler._growth._victim = lambda running: min(running, key=lambda seq: seq.id)
        step(started)
        batch = started.scheduler.schedule(started.now_ns)
        started.check()
        assert ids(batch.seqs) == [1, 2]
        assert batch.num_new == [1, 1]
        assert batch.num_preempted == 1
        assert ids(started.scheduler.waiting) == [0]
        started.scheduler.advance(batch, Outcome(), 9)
        events = run(started)
        assert sorted(event.seq for event in of_kind(events, Finished)) == [0, 1, 2]

    def test_a_contiguous_pool_preempts_nobody(self):
        started = engine([(4, 20)] * 6, choice="contiguous-oracle-first_fit")
        run(started)
        assert started.scheduler.num_preemptions == 0


class TestRejection:
    def test_a_request_that_can_never_fit_is_turned_away_with_its_size(self):
        started = engine([(14, 4), (3, 2)], num_blocks=4)
        events = step(started)
        assert of_kind(events, Rejected) == [Rejected(0, needed=20, limit=16, reason="pool")]
        assert of_kind(events, Admitted) == [Admitted(1, 3)]
        assert started.scheduler.num_rejected == 1
        run(started)
        assert started.scheduler.num_finished == 1

    def test_the_rejected_are_counted_by_reason(self):
        started = engine([(40, 1), (33, 9), (41, 2), (1, 1)], num_blocks=9, max_len=40)
        step(started)
        assert started.scheduler.rejected == {"context": 3}
        started = engine([(40, 1), (33, 9), (41, 2), (1, 1)], num_blocks=9, max_len=42)
        step(started)
        assert started.scheduler.rejected == {"pool": 2, "context": 1}
        assert started.scheduler.num_rejected == 3

    def test_the_largest_that_fits_runs_to_its_end(self):
        events = run(engine([(14, 3)], num_blocks=4))
        assert of_kind(events, Finished) == [Finished(0, 3)]

    def test_more_than_the_context_limit_is_turned_away(self):
        events = step(engine([(30, 11), (30, 10)], max_len=40))
        assert of_kind(events, Rejected) == [Rejected(0, needed=41, limit=40, reason="context")]
        assert of_kind(events, Admitted) == [Admitted(1, 30)]

    def test_a_reservation_larger_than_the_largest_region_never_fits(self):
        started = engine([(30, 3)], num_blocks=15, choice="contiguous-oracle-buddy")
        assert of_kind(step(started), Rejected) == [Rejected(0, needed=64, limit=32, reason="pool")]
        assert started.done


class TestWaitingIsToldOncePerChange:
    def test_the_same_reason_and_figures_are_not_repeated(self):
        started = engine([(8, 8), (5, 1)], choice="contiguous-oracle-first_fit", num_blocks=4)
        assert of_kind(step(started), Waiting) == [Waiting(1, 6, 0, 0, "memory")]
        for _ in range(6):
            assert of_kind(step(started), Waiting) == []

    def test_enough_free_memory_in_pieces_is_told_as_fragmented(self):
        lengths = [(4, 4), (4, 8), (4, 4), (4, 9, 1)]
        started = engine(lengths, choice="contiguous-oracle-first_fit", num_blocks=7)
        step(started, 4)
        assert Waiting(3, 13, 16, 8, "fragmented") in step(started)

    def test_a_changed_figure_is_told_again(self):
        started = engine([(4, 9), (12, 4), (17, 1)], num_blocks=8)
        assert of_kind(step(started), Waiting) == [Waiting(2, 20, 16, 16, "memory")]
        assert of_kind(step(started), Waiting) == [Waiting(2, 20, 8, 8, "memory")]

    def test_a_sequence_that_ran_in_between_is_told_anew(self):
        # r2 is preempted in step 4, recovers in step 5 and is preempted in step 6 with the same figures.
        started = engine([(5, 6, 0), (1, 3, 1), (3, 4, 2)], num_blocks=5, block_size=3)
        told = [Waiting(2, 6, 3, 3, "preempted")]
        assert [of_kind(step(started), Waiting) for _ in range(6)] == [[], [], [], told, [], told]


def test_check_catches_corruption_of_each_list():
    def broken(change):
        started = engine([(4, 9), (4, 9), (60, 1)], num_blocks=16)
        step(started)
        change(started.scheduler)
        with pytest.raises(AssertionError):
            started.check()

    broken(lambda scheduler: scheduler.running.pop())
    broken(lambda scheduler: scheduler.running.append(scheduler.waiting[0]))
    broken(lambda scheduler: scheduler.waiting.append(scheduler.running[0]))
    broken(lambda scheduler: setattr(scheduler.running[0], "num_tokens", 13))
    broken(lambda scheduler: setattr(scheduler.waiting[0], "num_computed", 1))
    broken(lambda scheduler: setattr(scheduler, "_max_num_seqs", 1))
