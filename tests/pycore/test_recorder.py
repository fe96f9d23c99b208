import pytest

from pycore.recorder import Recording, record
from pycore.snapshot import take_snapshot
from tests.pycore.build import MEMORY_CHOICES, engine

LENGTHS = [(1 + 7 * i % 13, 1 + 5 * i % 11, i // 3) for i in range(20)]


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
def test_any_step_given_back_equals_stepping_there(choice):
    recording = record(engine(LENGTHS, choice=choice, max_len=32), 30)
    stepped = engine(LENGTHS, choice=choice, max_len=32)
    frames = [take_snapshot(stepped)]
    for _ in range(30):
        stepped.step()
        frames.append(take_snapshot(stepped))
    for step in (30, 0, 17, 1, 29):
        assert recording[step] == frames[step]


def test_frame_0_is_the_state_before_the_first_step():
    recording = record(engine(LENGTHS), 3)
    assert len(recording) == 4
    assert [frame.step for frame in recording.frames] == [0, 1, 2, 3]
    assert (recording[0].num_running, recording[0].events, recording[0].waiting) == (0, (), ())


def test_steps_after_the_last_request_are_recorded_too():
    recording = record(engine([(2, 1)]), 5)
    assert [frame.num_finished for frame in recording.frames] == [0, 1, 1, 1, 1, 1]


def test_the_caller_is_told_of_each_step_and_can_stop():
    told = []

    def stop_at_4(step: int) -> None:
        told.append(step)
        if step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(engine(LENGTHS), 30, stop_at_4)
    assert told == [1, 2, 3, 4]


def test_equal_runs_have_equal_digests():
    assert record(engine(LENGTHS), 20).digest() == record(engine(LENGTHS), 20).digest()


@pytest.mark.parametrize(
    "changed",
    [
        lambda: record(engine(LENGTHS), 21),
        lambda: record(engine(LENGTHS, num_blocks=17), 20),
        lambda: record(engine(LENGTHS, choice="paged-lifo"), 20),
        lambda: record(engine([*LENGTHS[:-1], (3, 3, 6)]), 20),
    ],
    ids=["one step more", "one block more", "another order", "another request"],
)
def test_any_difference_changes_the_digest(changed):
    assert changed().digest() != record(engine(LENGTHS), 20).digest()


def test_a_single_event_changes_the_digest():
    recording = record(engine(LENGTHS), 20)
    last = recording[20]._replace(events=(*recording[20].events, recording[1].events[0]))
    assert Recording((*recording.frames[:-1], last)).digest() != recording.digest()


def test_what_is_cached_is_part_of_the_digest():
    frame = take_snapshot(engine(LENGTHS, max_len=32))
    frames = [frame._replace(memory=frame.memory._replace(cached=cached)) for cached in ((), (3,), (4,))]
    assert len({Recording((each,)).digest() for each in frames}) == 3
