"""Requests that are turned away, since they could never run to their end."""

from pycore.events import EventLog, NullLog, Rejected
from pycore.memory.allocator import KVAllocator
from pycore.request import Sequence, Status
from pycore.scheduling.rules import Rules


class Rejections:
    """Asked once on arrival and, under some rules, again when a request is the next to be admitted.

    Attributes:
        by_reason: how many were rejected (see events.Rejected).
        count: how many in all.
    """

    def __init__(
        self, max_len: int, max_num_seqs: int, rules: Rules, allocator: KVAllocator, log: EventLog | NullLog
    ) -> None:
        """Nobody was rejected; for the arguments see Scheduler."""
        self.by_reason: dict[str, int] = {}
        self.count = 0
        self._max_len = max_len
        self._max_num_seqs = max_num_seqs
        self._rules = rules
        self._allocator = allocator
        self._log = log

    def on_arrival(self, seq: Sequence) -> bool:
        """Rejects a new sequence if it must be; whether it did."""
        request = seq.request
        needed, limit = self._allocator.slots_needed(request), self._allocator.largest_holding
        if self._rules.sets_aside:  # what an empty pool must have for it to be admitted, however far it is
            needed += request.num_seqs * (self._allocator.block_size + 2)
        if request.total_len > self._max_len:
            return self._reject(seq, request.total_len, self._max_len, "context")
        if request.num_seqs > self._max_num_seqs:
            return self._reject(seq, request.num_seqs, self._max_num_seqs, "sequences")
        return (
            needed > limit and self._rules.reject == "on_arrival" and self._reject(seq, needed, limit, "pool")
        )

    def on_turn(self, seq: Sequence, watermark_slots: int) -> bool:
        """Rejects the head of the queue if what it is by now does not fit beside the watermark.

        Only to be asked under rules that reject on turn (vLLM V0).
        """
        needed = self._allocator.slots_to_admit(seq.group)
        limit = self._allocator.largest_holding - watermark_slots
        return needed > limit and self._reject(seq, needed, limit, "pool")

    def _reject(self, seq: Sequence, needed: int, limit: int, reason: str) -> bool:
        seq.status = Status.REJECTED
        self.by_reason[reason] = self.by_reason.get(reason, 0) + 1
        self.count += 1
        self._log.emit(Rejected, seq.id, needed, limit, reason)
        return True
