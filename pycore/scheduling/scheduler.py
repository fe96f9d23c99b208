"""First come, first served, over memory that may say no."""

from collections import deque
from collections.abc import Callable, Iterable

from pycore.events import (
    Admitted,
    Arrived,
    EventLog,
    Finished,
    NullLog,
    Preempted,
    Recovered,
    Rejected,
    Waiting,
)
from pycore.memory.allocator import KVAllocator
from pycore.request import Request, Sequence, Status
from pycore.scheduling.batch import Batch


class Scheduler:
    """The waiting queue and the running sequences (vLLM paper, sections 4.5 and 5).

    Running sequences come first: each gets room for its next token, and while there is none the victim is
    preempted: it loses all its KV and waits at the front of the queue, to be computed again. Then, in a step
    that preempted nobody, waiting sequences are admitted in order, the head blocking all behind it; so
    nobody is admitted before a preempted sequence has recovered.

    Attributes:
        waiting: the queue, head first.
        running: sequences that hold memory, in order of admission.
        num_finished, num_preemptions: counts since the start.
        rejected: how many were rejected, by reason (see events.Rejected).
        num_recomputed: tokens whose KV preempted sequences lost and must compute again.
    """

    def __init__(
        self,
        allocator: KVAllocator,
        victim: Callable[[Iterable[Sequence]], Sequence],
        *,
        max_len: int,
        max_num_seqs: int,
        watermark_slots: int,
        log: EventLog | NullLog,
    ) -> None:
        """An empty queue over `allocator`.

        Args:
            allocator: the memory; nobody else allocates from it.
            victim: picks the running sequence to preempt.
            max_len: longest prompt plus output, in tokens.
            max_num_seqs: most sequences that run at once.
            watermark_slots: slots that an admission must leave free while others run, so that they can grow.
            log: told what happens and why.
        """
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.num_finished = 0
        self.rejected: dict[str, int] = {}
        self.num_recomputed = 0
        self.num_preemptions = 0
        self._allocator = allocator
        self._victim = victim
        self._max_len = max_len
        self._max_num_seqs = max_num_seqs
        self._watermark_slots = watermark_slots
        self._log = log
        self._told: tuple | None = None  # the last Waiting event, so that it is not told every step

    def add(self, request: Request) -> Sequence:
        """Queues a request, or rejects it if it could never run to its end in this pool."""
        seq = Sequence(request)
        needed = self._allocator.slots_needed(request)
        self._log.emit(Arrived, seq.id, request.prompt_len, request.output_len)
        if request.total_len > self._max_len:
            self._reject(seq, request.total_len, self._max_len, "context")
        elif needed > self._allocator.largest_holding:
            self._reject(seq, needed, self._allocator.largest_holding, "pool")
        else:
            self.waiting.append(seq)
        return seq

    def _reject(self, seq: Sequence, needed: int, limit: int, reason: str) -> None:
        seq.status = Status.REJECTED
        self.rejected[reason] = self.rejected.get(reason, 0) + 1
        self._log.emit(Rejected, seq.id, needed, limit, reason)

    def schedule(self, now_ns: int) -> Batch:
        """Decides what the forward pass that starts at `now_ns` computes, and makes room for it."""
        batch = Batch()
        self._grow_running(batch)
        self._admit_waiting(batch, now_ns)
        return batch

    def _grow_running(self, batch: Batch) -> None:
        allocate_slots = self._allocator.allocate_slots
        queue = deque(self.running)
        while queue:
            seq = queue.popleft()
            num_new = seq.num_tokens - seq.num_computed
            while not allocate_slots(seq, num_new):
                victim = self._victim([seq, *queue, *batch.seqs])
                self._preempt(victim, seq)
                batch.num_preempted += 1
                if victim is seq:
                    break
                if victim in queue:
                    queue.remove(victim)
                else:
                    at = batch.seqs.index(victim)
                    del batch.seqs[at], batch.num_new[at]
            else:
                batch.add(seq, num_new)

    def _preempt(self, victim: Sequence, grower: Sequence) -> None:
        self._log.emit(Preempted, victim.id, grower.id, victim.num_computed)
        self._allocator.free(victim)
        self.running.remove(victim)
        self.waiting.appendleft(victim)
        self.num_recomputed += victim.num_computed
        victim.num_computed = 0
        victim.status = Status.WAITING
        victim.preemptions += 1
        self.num_preemptions += 1

    def _admit_waiting(self, batch: Batch, now_ns: int) -> None:
        while self.waiting:
            seq = self.waiting[0]
            if batch.num_preempted:
                return self._tell_waiting(seq, "preempted")
            if len(self.running) >= self._max_num_seqs:
                return self._tell_waiting(seq, "batch")
            keep_free = self._watermark_slots if self.running else 0
            if not self._allocator.allocate_slots(seq, seq.num_uncomputed, keep_free):
                return self._tell_waiting(seq, "memory")
            self.waiting.popleft()
            self.running.append(seq)
            self._told = None  # whoever waits after an admission, waits anew
            seq.status = Status.RUNNING
            if seq.admitted_ns is None:
                seq.admitted_ns = now_ns
            self._log.emit(Recovered if seq.preemptions else Admitted, seq.id, seq.num_uncomputed)
            batch.add(seq, seq.num_uncomputed)
        return None

    def _tell_waiting(self, seq: Sequence, reason: str) -> None:
        needed = self._allocator.slots_to_admit(seq)
        free = self._allocator.num_free
        largest = self._allocator.largest_free
        if reason == "memory" and needed <= largest:
            reason = "watermark"
        elif reason == "memory" and needed <= free:
            reason = "fragmented"
        told = (seq.id, needed, free, largest, reason)
        if told != self._told:
            self._told = told
            self._log.emit(Waiting, *told)

    def advance(self, batch: Batch, now_ns: int) -> list[Sequence]:
        """Books what the forward pass did: KV written, one token more each; those that are done leave.

        Args:
            batch: what was computed.
            now_ns: the time at which its tokens are out.

        Returns:
            The sequences that finished, in batch order.
        """
        finished = []
        commit = self._allocator.commit
        for seq, num_new in zip(batch.seqs, batch.num_new, strict=True):
            seq.num_computed += num_new
            commit(seq)
            seq.num_tokens += 1
            if seq.first_token_ns is None:
                seq.first_token_ns = now_ns
            if seq.num_tokens >= seq.total_len:
                finished.append(seq)
        for seq in finished:
            seq.status = Status.FINISHED
            seq.finished_ns = now_ns
            self._log.emit(Finished, seq.id, seq.num_generated)
            self._allocator.free(seq)
        if finished:
            self.num_finished += len(finished)
            self.running = [seq for seq in self.running if seq.status is Status.RUNNING]
        return finished

    @property
    def num_rejected(self) -> int:
        """Requests turned away since the start."""
        return sum(self.rejected.values())

    @property
    def demand(self) -> int:
        """Slots that the head of the queue wants in one piece; 0 when nobody waits."""
        return self._allocator.slots_to_admit(self.waiting[0]) if self.waiting else 0

    @property
    def idle(self) -> bool:
        """Nobody runs and nobody waits."""
        return not self.running and not self.waiting

    def check(self) -> None:
        """Raises AssertionError with the broken state if an invariant does not hold."""
        self._allocator.check()
        for seq in self.running:
            assert seq.status is Status.RUNNING, f"{seq} is in the running list"
            assert 0 < seq.num_computed <= seq.num_tokens < seq.request.total_len, f"{seq} should have left"
        for seq in self.waiting:
            assert seq.status is Status.WAITING, f"{seq} is in the waiting queue"
            assert seq.num_computed == 0, f"{seq} waits and has KV"
        assert len(self.running) <= self._max_num_seqs, (
            f"{len(self.running)} run, at most {self._max_num_seqs} may"
        )
        holding = set(self._allocator.memory_map().seqs)
        assert holding == {seq.id for seq in self.running}, (
            f"memory is held by {holding}, running: {self.running}"
        )
