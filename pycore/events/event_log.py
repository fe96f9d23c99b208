"""The log of a step: what happened, in order."""

from pycore.events.memory_events import MemoryEvent
from pycore.events.request_events import RequestEvent
from pycore.named_tuples import of_fields

Event = RequestEvent | MemoryEvent


class EventLog:
    """Collects the events of a step.

    Attributes:
        keeps: whether anybody will read them.
    """

    __slots__ = ("_append", "_events")
    keeps = True

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._append = self._events.append

    def emit(self, kind: type, *fields) -> None:
        """Appends an event; `fields` are all that its kind has, in order."""
        self._append(of_fields(kind, fields))

    def drain(self) -> tuple[Event, ...]:
        """The events since the last call, in order; forgets them."""
        events = tuple(self._events)
        self._events.clear()
        return events


class NullLog:
    """Keeps nothing and builds nothing: for replays of millions of steps."""

    __slots__ = ()
    keeps = False

    def emit(self, kind: type, *fields) -> None:
        """Does nothing."""

    def drain(self) -> tuple[Event, ...]:
        """Always empty."""
        return ()
