"""Everything that can happen, in the field's words.

Events say what happened (log, marks on the time line, tests); snapshots say what is (pictures). Slots are
token slots; a sequence is named by its request's id. The log keeps them in the order they happened.
"""

from pycore.events.event_log import Event, EventLog, NullLog
from pycore.events.memory_events import (
    BlockCopied,
    BlocksAllocated,
    BlocksEvicted,
    BlocksFreed,
    DuplicatesFreed,
    Forked,
    NodeSplit,
    PrefixCached,
    PrefixHit,
    PrefixShared,
    RegionFreed,
    RegionReserved,
    SwappedIn,
    SwappedOut,
)
from pycore.events.request_events import (
    Admitted,
    Arrived,
    Dropped,
    Finished,
    Outgrown,
    Preempted,
    Recovered,
    Rejected,
    Waiting,
)

__all__ = [
    "Admitted",
    "Arrived",
    "BlockCopied",
    "BlocksAllocated",
    "BlocksEvicted",
    "BlocksFreed",
    "Dropped",
    "DuplicatesFreed",
    "Event",
    "EventLog",
    "Finished",
    "Forked",
    "NodeSplit",
    "NullLog",
    "Outgrown",
    "Preempted",
    "PrefixCached",
    "PrefixHit",
    "PrefixShared",
    "Recovered",
    "RegionFreed",
    "RegionReserved",
    "Rejected",
    "SwappedIn",
    "SwappedOut",
    "Waiting",
]
