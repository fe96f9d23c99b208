"""The log of a step: what happened, in order."""

from pycore.events.memory_events import MemoryEvent
from pycore.events.request_events import RequestEvent

Event = RequestEvent | MemoryEvent

_of_fields = tuple.__new__


class EventLog:
    """Collects the events of a step.

    Attributes:
        keeps: whether anybody will read them.
    """

    __slots__ = ("_events",)
    keeps = True

    def __init__(self) -> None:
        self._events: list[Event] = []

    def emit(self, kind: type, *fields) -> None:
        """Appends `kind(*fields)`."""
        # A named tuple whose fields are all given is made in one call: that is felt in a whole run.
        whole = len(fields) == len(kind._fields)
        self._events.append(_of_fields(kind, fields) if whole else kind(*fields))

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
