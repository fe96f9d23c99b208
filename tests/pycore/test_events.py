import typing

import pytest

from pycore import events
from pycore.events import Admitted, Arrived, EventLog, Finished, NullLog


def test_the_log_gives_events_once_and_in_order():
    log = EventLog()
    log.emit(Arrived, 0, 5, 2)
    log.emit(Admitted, 0, 5)
    assert log.drain() == (Arrived(seq=0, prompt_len=5, output_len=2), Admitted(seq=0, num_tokens=5))
    assert log.drain() == ()


def test_what_was_drained_is_not_touched_by_later_events():
    log = EventLog()
    log.emit(Finished, 1, 2)
    before = log.drain()
    log.emit(Finished, 2, 2)
    assert before == (Finished(1, 2),)


def test_the_null_log_keeps_nothing():
    log = NullLog()
    log.emit(Finished, 1, 2)
    assert log.drain() == ()


@pytest.mark.parametrize("kind", typing.get_args(events.Event), ids=lambda kind: kind.__name__)
def test_every_event_names_a_sequence_first_and_is_frozen(kind):
    assert kind._fields[0] == "seq"
    event = kind(*range(len(kind._fields)))
    with pytest.raises(AttributeError):
        event.seq = 1


def test_every_event_class_is_in_the_union():
    classes = {cls for cls in vars(events).values() if hasattr(cls, "_fields")}
    assert classes == set(typing.get_args(events.Event))
