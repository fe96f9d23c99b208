"""First come, first served, over memory that may say no."""

from collections import deque
from collections.abc import Callable, Iterable

from pycore.events import (
    Admitted,
    Arrived,
    Dropped,
    EventLog,
    Finished,
    NullLog,
    Preempted,
    Recovered,
    Rejected,
    SwappedIn,
    SwappedOut,
    Waiting,
)
from pycore.memory.allocator import KVAllocator
from pycore.request import FIRST_FORKED_ID, PREFIX_ID, Request, Sequence, Status
from pycore.scheduling.batch import Batch
from pycore.scheduling.outcome import Outcome

RECOVERIES = ("recompute", "swap")


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
        recovery: str = "recompute",
        log: EventLog | NullLog,
    ) -> None:
        """An empty queue over `allocator`.

        Args:
            allocator: the memory; nobody else allocates from it.
            victim: picks the running sequence to preempt.
            max_len: longest prompt plus output, in tokens.
            max_num_seqs: most sequences that run at once.
            watermark_slots: slots that an admission must leave free while others run, so that they can grow.
            recovery: one of RECOVERIES: whether preempted sequences are computed again, or swapped to CPU
                memory while there is room in it.
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
        self._recovery = recovery
        self._has_groups = False
        self._num_forked = 0
        self._num_samples: dict[int, int] = {}  # request of several sequences → sequences made so far
        self._log = log
        self._told: tuple | None = None  # the last Waiting event, so that it is not told every step

    def add(self, request: Request) -> Sequence:
        """Queues a request, or rejects it if it could never run to its end in this pool."""
        seq = Sequence(request)
        needed = self._allocator.slots_needed(request)
        limit = self._allocator.largest_holding
        self._log.emit(Arrived, seq.id, request.prompt_len, request.output_len)
        if request.total_len > self._max_len:
            self._reject(seq, request.total_len, self._max_len, "context")
        elif request.num_seqs > self._max_num_seqs:
            self._reject(seq, request.num_seqs, self._max_num_seqs, "sequences")
        elif needed > limit:
            self._reject(seq, needed, limit, "pool")
        else:
            self._has_groups = self._has_groups or request.num_seqs > 1
            self.waiting.append(seq)
        return seq

    def _reject(self, seq: Sequence, needed: int, limit: int, reason: str) -> None:
        seq.status = Status.REJECTED
        self.rejected[reason] = self.rejected.get(reason, 0) + 1
        self._log.emit(Rejected, seq.id, needed, limit, reason)

    def schedule(self, now_ns: int) -> Batch:
        """Decides what the forward pass that starts at `now_ns` computes, and makes room for it."""
        batch = Batch()
        batch.has_groups = self._has_groups
        self._grow_running(batch)
        self._admit_waiting(batch, now_ns)
        batch.moves = self._allocator.take_moves()
        return batch

    def _grow_running(self, batch: Batch) -> None:
        allocate_slots = self._allocator.allocate_slots
        queue = deque(self.running)
        while queue:
            seq = queue.popleft()
            num_new = seq.num_tokens - seq.num_computed
            while not allocate_slots(seq, num_new):
                victims = self._victim([seq, *queue, *batch.seqs]).group
                self._preempt(victims, seq)
                batch.num_preempted += 1
                for victim in victims:
                    batch.remove(victim)
                    if victim in queue:
                        queue.remove(victim)
                if victims is seq.group:
                    break
            else:
                batch.add(seq, num_new)

    def _preempt(self, group: list[Sequence], grower: Sequence) -> None:
        """Takes all memory from the sequences of one request and puts it at the front of the queue."""
        first = group[0]
        self.num_preemptions += 1
        for seq in group:
            self.running.remove(seq)
            seq.preemptions += 1
        self.waiting.appendleft(first)
        if self._recovery == "swap":
            moved = self._allocator.swap_out(group)
            if moved:
                self._log.emit(
                    SwappedOut, first.id, grower.id, moved, self._allocator.swap_space.pool.num_free
                )
                for seq in group:
                    seq.status = Status.SWAPPED
                return
        lost = sum(seq.num_computed for seq in group) - (len(group) - 1) * first.request.prompt_len
        self.num_recomputed += lost
        self._log.emit(Preempted, first.id, grower.id, lost)
        for seq in group:
            self._allocator.free(seq)
            seq.num_computed = 0
            seq.status = Status.WAITING

    def _admit_waiting(self, batch: Batch, now_ns: int) -> None:
        num_running = len(self.running)
        while self.waiting:
            seq = self.waiting[0]
            if batch.num_preempted:
                return self._tell_waiting(seq, "preempted")
            num_running += seq.request.num_seqs
            if num_running > self._max_num_seqs:
                return self._tell_waiting(seq, "batch")
            swapped = seq.status is Status.SWAPPED
            fits = self._allocator.can_swap_in if swapped else self._allocator.can_admit
            if not fits(seq.group, self._watermark_slots if self.running else 0):
                return self._tell_waiting(seq, "memory")
            self.waiting.popleft()
            self._told = None  # whoever waits after an admission, waits anew
            if seq.admitted_ns is None:
                seq.admitted_ns = now_ns
            if swapped:
                moved = self._allocator.swap_in(seq.group)
                self._log.emit(SwappedIn, seq.id, moved, self._allocator.num_free)
            self._start(seq.group, batch)
        return None

    def _start(self, group: list[Sequence], batch: Batch) -> None:
        """Lets a group run for which there is room, with what it still has to compute."""
        first = group[0]
        again = first.status is not Status.SWAPPED
        for seq in group:
            if again and seq is first:
                seq.num_computed = self._allocator.match_prefix(seq)
            elif again:
                seq.num_computed = self._allocator.whole_blocks(seq.request.prompt_len)
                self._allocator.fork(first, seq)
            seq.status = Status.RUNNING
            self.running.append(seq)
            num_new = seq.num_uncomputed
            if not self._allocator.allocate_slots(seq, num_new):
                raise AssertionError(
                    f"{seq} was told that it fits, and does not: {self._allocator.memory_map()}"
                )
            if again:
                self._log.emit(Recovered if seq.preemptions else Admitted, seq.id, num_new)
            batch.add(seq, num_new)

    def _tell_waiting(self, seq: Sequence, reason: str) -> None:
        needed = self.head_needed
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

    def advance(self, batch: Batch, outcome: Outcome, now_ns: int) -> list[Sequence]:
        """Books what the forward pass did: KV written, one token more each; those that are done leave.

        Args:
            batch: what was computed.
            outcome: the tokens that came of it, and which sequences part.
            now_ns: the time at which its tokens are out.

        Returns:
            The sequences that finished, in batch order.
        """
        finished = []
        commit = self._allocator.commit
        for seq, num_new in zip(batch.seqs, batch.num_new, strict=True):
            seq.num_computed += num_new
            commit(seq)
        if outcome.tokens:
            for seq in batch.seqs:
                if seq.id in outcome.tokens:
                    seq.tokens.append(outcome.tokens[seq.id])
        seqs = self._branch(batch.seqs, outcome) if outcome.branches else batch.seqs
        for seq in seqs:
            seq.num_tokens += 1
            if seq.first_token_ns is None:
                seq.first_token_ns = now_ns
            if seq.num_tokens >= seq.total_len:
                finished.append(seq)
        for seq in finished:
            seq.status = Status.FINISHED
            seq.finished_ns = now_ns
            seq.group.remove(seq)
            if not seq.group:
                self.num_finished += 1
                self._num_samples.pop(seq.request.id, None)
            self._log.emit(Finished, seq.id, seq.num_generated)
            self._allocator.free(seq)
        if finished:
            self.running = [seq for seq in self.running if seq.status is Status.RUNNING]
        return finished

    def _branch(self, seqs: list[Sequence], outcome: Outcome) -> list[Sequence]:
        """Forks and drops sequences as the outcome says; returns those that go on, the new ones last."""
        dropped = False
        born: list[Sequence] = []
        for branches in outcome.branches.values():
            parents = {parent.id for parent, _ in branches}
            group = branches[0][0].group
            for seq in [seq for seq in group if seq.id not in parents]:
                self._log.emit(Dropped, seq.id)
                self._allocator.free(seq)
                group.remove(seq)
                seq.status = Status.DROPPED
                dropped = True
            going_on = []
            for parent, token in branches:
                first = parent.id in parents
                parents.discard(parent.id)
                going_on.append((parent if first else self._fork(parent), token))
                if not first:
                    born.append(going_on[-1][0])
            for seq, token in going_on:
                if token is not None:
                    seq.tokens.append(token)
        if dropped:
            self.running = [seq for seq in self.running if seq.status is Status.RUNNING]
        return [seq for seq in seqs if seq.status is Status.RUNNING] + born

    def _fork(self, parent: Sequence) -> Sequence:
        self._num_forked += 1
        sample = self._num_samples.get(parent.request.id, 1)
        self._num_samples[parent.request.id] = sample + 1
        child = parent.fork(FIRST_FORKED_ID + self._num_forked, sample)
        self._allocator.fork(parent, child)
        self.running.insert(self.running.index(parent.group[-2]) + 1, child)  # a group stays together
        return child

    @property
    def num_rejected(self) -> int:
        """Requests turned away since the start."""
        return sum(self.rejected.values())

    @property
    def head_needed(self) -> int:
        """Slots that the head of the queue wants; 0 when nobody waits."""
        if not self.waiting:
            return 0
        head = self.waiting[0]
        swapped = head.status is Status.SWAPPED
        return (self._allocator.slots_to_swap_in if swapped else self._allocator.slots_to_admit)(head.group)

    @property
    def demand(self) -> int:
        """Slots that it wants in one piece; 0 when nobody waits."""
        return self._allocator.piece_to_admit(self.waiting[0].group) if self.waiting else 0

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
        for first in self.waiting:
            for seq in first.group:
                assert seq.status in (Status.WAITING, Status.SWAPPED), f"{seq} is in the waiting queue"
                assert (seq.num_computed > 0) == (seq.status is Status.SWAPPED), f"{seq} waits"
        assert len(self.running) <= self._max_num_seqs, (
            f"{len(self.running)} run, at most {self._max_num_seqs} may"
        )
        holding = set(self._allocator.memory_map().seqs) - {PREFIX_ID}
        assert holding == {seq.id for seq in self.running}, (
            f"memory is held by {holding}, running: {self.running}"
        )
