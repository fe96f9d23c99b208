import pytest

from pycore.events import Admitted, Arrived, Finished, NullLog
from pycore.request import Status
from tests.pycore.build import MEMORY_CHOICES, engine, run, step


def test_a_request_is_seen_in_the_first_step_that_begins_after_its_arrival():
    started = engine([(1, 9, 0), (1, 9, 2), (1, 9, 2), (1, 9, 3)])
    arrived = [[e.seq for e in step(started) if isinstance(e, Arrived)] for _ in range(5)]
    assert arrived == [[0], [], [1, 2], [3], []]  # the clock stands at 0, 1, 2, 3, 4 when the steps begin


def test_a_step_goes_from_arrivals_to_admission_to_memory_given_back():
    kinds = [type(event).__name__ for event in step(engine([(5, 1), (3, 2)]))]
    assert kinds == [
        "Arrived",
        "Arrived",
        "BlocksAllocated",
        "Admitted",
        "BlocksAllocated",
        "Admitted",
        "Finished",
        "BlocksFreed",
    ]


def test_a_step_returns_the_sequences_that_finished_in_it():
    started = engine([(2, 1), (2, 2), (2, 1)])
    finished = started.step()
    assert [seq.id for seq in finished] == [0, 2]
    assert all(seq.status is Status.FINISHED for seq in finished)
    assert [seq.finished_ns for seq in finished] == [1, 1]
    assert [seq.id for seq in started.step()] == [1]
    assert started.step() == []


def test_every_running_sequence_emits_one_token_a_step():
    started = engine([(2, 6), (7, 6)])
    step(started)
    for generated in (1, 2, 3, 4):
        assert [seq.num_generated for seq in started.scheduler.running] == [generated, generated]
        step(started)


def test_time_and_steps_go_on_even_when_nothing_runs():
    started = engine([(1, 1, 50)])
    step(started, 3)
    assert (started.now_ns, started.num_steps, started.done) == (3, 3, False)


def test_skipping_idle_time_moves_the_clock_to_the_next_arrival():
    started = engine([(1, 1, 0), (1, 1, 50)])
    step(started)
    started.skip_idle()
    assert (started.now_ns, started.num_steps) == (50, 1)
    assert Admitted(1, 1) in step(started)
    assert started.done


def test_time_is_not_skipped_while_something_runs_or_waits_nor_ever_back():
    running = engine([(1, 3, 0), (1, 1, 50)])
    step(running)
    running.skip_idle()
    assert running.now_ns == 1
    late = engine([(1, 1, 0), (1, 1, 1)])
    step(late, 1)
    late.now_ns = 9
    late.skip_idle()
    assert late.now_ns == 9
    over = engine([])
    over.skip_idle()
    assert over.now_ns == 0


def test_an_engine_without_requests_is_done():
    assert engine([]).done
    assert step(engine([])) == []


def test_it_is_done_when_all_have_finished_or_were_rejected():
    started = engine([(60, 9), (3, 3)], max_len=64)
    assert not started.done
    step(started, 2)
    assert not started.done
    step(started)
    assert started.done
    assert (started.scheduler.num_finished, started.scheduler.num_rejected) == (1, 1)


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
def test_one_engine_runs_every_kind_of_memory_to_the_end(choice):
    lengths = [(1 + 7 * i % 13, 1 + 5 * i % 11, i // 3) for i in range(20)]
    started = engine(lengths, choice=choice, max_len=32)
    events = run(started)
    assert sorted((e.seq, e.num_generated) for e in events if isinstance(e, Finished)) == [
        (i, output) for i, (_, output, _) in enumerate(lengths)
    ]
    assert started.allocator.num_free == started.allocator.capacity


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
def test_the_log_has_no_influence_on_the_run(choice):
    lengths = [(1 + 7 * i % 13, 1 + 5 * i % 11, i // 3) for i in range(20)]
    loud, quiet = (engine(lengths, choice=choice, max_len=32) for _ in range(2))
    quiet.log = quiet.scheduler._log = quiet.allocator._log = NullLog()
    while not loud.done:
        assert [s.id for s in loud.step()] == [s.id for s in quiet.step()]
        assert loud.allocator.memory_map() == quiet.allocator.memory_map()
    assert quiet.done
