"""Those that wait, in the order in which they are let in."""

from bisect import insort
from collections import deque

from pycore.events import EventLog, NullLog, Waiting
from pycore.memory.allocator import KVAllocator
from pycore.request import Sequence, Status
from pycore.scheduling.policies import QUEUE


class WaitingQueue:
    """The queue, and why its head waits.

    Attributes:
        seqs: the first sequence of each waiting request, head first.
    """

    def __init__(self, order: str, allocator: KVAllocator, log: EventLog | NullLog) -> None:
        """Nobody waits.

        Args:
            order: one of policies.QUEUE.
            allocator: asked what the head needs.
            log: told why it waits.
        """
        self.seqs: deque[Sequence] = deque()
        self._rank = QUEUE[order]
        self._allocator = allocator
        self._log = log
        self._told: tuple | None = None  # the last Waiting event, so that it is not told every step

    @property
    def is_fixed(self) -> bool:
        """Whether the order of those that wait stays as it is while nobody comes or goes."""
        return True

    def add(self, seq: Sequence) -> None:
        """Queues a new sequence."""
        if self._rank is None:
            self.seqs.append(seq)
        else:
            insort(self.seqs, seq, key=self._rank)

    def give_back(self, seq: Sequence) -> None:
        """Queues a preempted sequence: at the front, or where the order says."""
        if self._rank is None:
            self.seqs.appendleft(seq)
        else:
            insort(self.seqs, seq, key=self._rank)

    def admit(self, seq: Sequence, now_ns: int) -> None:
        """Takes a sequence out, to run."""
        self.seqs.remove(seq)  # the head almost always, which is found at once
        self._told = None  # whoever waits after an admission, waits anew
        if seq.admitted_ns is None:
            seq.admitted_ns = now_ns

    def earliest_swapped(self) -> Sequence:
        """Of those in CPU memory, the one that arrived first; there must be one."""
        swapped = (seq for seq in self.seqs if seq.status is Status.SWAPPED)
        return min(swapped, key=lambda seq: (seq.request.arrival_ns, seq.id))

    @property
    def head_needed(self) -> int:
        """Slots that the head of the queue wants; 0 when nobody waits."""
        if not self.seqs:
            return 0
        head = self.seqs[0]
        swapped = head.status is Status.SWAPPED
        return (self._allocator.slots_to_swap_in if swapped else self._allocator.slots_to_admit)(head.group)

    @property
    def demand(self) -> int:
        """Slots that it wants in one piece; 0 when nobody waits."""
        return self._allocator.piece_to_admit(self.seqs[0].group) if self.seqs else 0

    def tell(self, reason: str) -> None:
        """Tells why the head waits, once per change; see events.Waiting."""
        needed = self.head_needed
        free = self._allocator.num_free
        largest = self._allocator.largest_free
        if reason == "memory" and needed <= largest:
            reason = "watermark"
        elif reason == "memory" and needed <= free:
            reason = "fragmented"
        told = (self.seqs[0].id, needed, free, largest, reason, self._allocator.num_cached)
        if told != self._told:
            self._told = told
            self._log.emit(Waiting, *told)

    def check(self) -> None:
        """Raises AssertionError if somebody waits who should not."""
        for first in self.seqs:
            for seq in first.group:
                assert seq.status in (Status.WAITING, Status.SWAPPED), f"{seq} is in the waiting queue"
                assert (seq.num_computed > 0) == (seq.status is Status.SWAPPED), f"{seq} waits"
