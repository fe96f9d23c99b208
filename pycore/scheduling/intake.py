"""Those who wait are let in, and those who were swapped out come back."""

from pycore.events import Admitted, EventLog, NullLog, Recovered
from pycore.memory.allocator import KVAllocator
from pycore.request import Sequence, Status
from pycore.scheduling.admission import Admission
from pycore.scheduling.batch import Batch
from pycore.scheduling.recovery import Recovery
from pycore.scheduling.rejections import Rejections
from pycore.scheduling.rules import Rules
from pycore.scheduling.waiting_queue import WaitingQueue


class Intake:
    """Lets requests run for which there is room, in the order of the queue, and schedules their prompts.

    Attributes:
        settled: whether nothing but an arrival or the end of a sequence can change who runs.
        held_up: why the head of the queue waits, if that lasts as long; None: it may be let in any time.
        begun: whose prompt is computed in part, where that goes before decodes.
    """

    def __init__(
        self,
        allocator: KVAllocator,
        rules: Rules,
        queue: WaitingQueue,
        admission: Admission,
        rejections: Rejections,
        recovery: Recovery,
        running: list[Sequence],
        *,
        max_num_seqs: int,
        watermark_slots: int,
        log: EventLog | NullLog,
    ) -> None:
        """Nobody waits or runs; for the arguments see Scheduler, or they are its parts."""
        self.settled = False
        self.held_up: str | None = None
        self.begun: Sequence | None = None
        self._allocator = allocator
        self._rules = rules
        self._queue = queue
        self._admission = admission
        self._rejections = rejections
        self._recovery = recovery
        self._running = running
        self._max_num_seqs = max_num_seqs
        self._watermark_slots = watermark_slots
        self._log = log

    def start_prompts(self, batch: Batch, now_ns: int) -> bool:
        """Computes prompts only, the one that was begun before those that wait; whether there are any."""
        going_on = self.begun
        if going_on is not None:
            self.begun = None
            self._compute(going_on, batch)
        return self.admit_waiting(batch, now_ns, going_on) or going_on is not None

    def admit_waiting(self, batch: Batch, now_ns: int, going_on: Sequence | None = None) -> bool:
        """Lets those at the head of the queue run for whom there is room; whether anybody left the queue.

        Args:
            batch, now_ns: see Scheduler.schedule.
            going_on: whose prompt goes on in this step.
        """
        queue, admission, running = self._queue, self._admission, self._running
        num_running = len(running)
        self.held_up = None
        admission.begin(running, going_on)
        if admission.closed:
            return False
        queue.arrange()
        waiting = queue.seqs
        num_waiting = len(waiting)
        turns_away = self._rules.reject == "on_turn"
        while waiting:
            seq = waiting[0]
            if turns_away and self._rejections.on_turn(seq, self._watermark_slots):
                queue.drop(seq)
                continue
            num_running += seq.request.num_seqs
            reason = admission.reason_to_wait(seq, running, num_running, batch)
            if reason:
                # Memory only gets scarcer while nobody finishes, and the batch no smaller.
                lasts = queue.is_fixed and reason in ("memory", "batch")
                self.settled = lasts or admission.closed
                queue.tell(reason)
                if not running:
                    self._recovery.tell_if_outgrown(seq.group)
                elif lasts:
                    self.held_up = reason
                break
            queue.admit(seq, now_ns)
            self._start(seq.group, batch)
        return len(waiting) < num_waiting

    def return_swapped(self, batch: Batch, now_ns: int) -> None:
        """Brings swapped groups back, the earliest first, unless somebody was preempted.

        Under vLLM V0's rules they need the watermark and a block more for each sequence even in an empty
        pool, so that some never come back.
        """
        num_running, strict = len(self._running), self._rules.empty_watermark
        while self._recovery.num_swapped and not batch.num_preempted:
            seq = self._queue.earliest_swapped()
            num_running += seq.request.num_seqs
            keep_free = self._watermark_slots if self._running or strict else 0
            if num_running > self._max_num_seqs or not self._allocator.can_swap_in(
                seq.group, keep_free, capped=not strict
            ):
                self.settled = True  # until somebody leaves there is no more room, and nobody else is let in
                if strict and not self._running:
                    self._recovery.tell_if_lost(seq.group, self._watermark_slots)
                return
            self._queue.admit(seq, now_ns)
            self._start(seq.group, batch)

    def _start(self, group: list[Sequence], batch: Batch) -> None:
        """Lets a group run for which there is room, with what it still has to compute."""
        first = group[0]
        again = first.status is not Status.SWAPPED
        if not again:
            self._recovery.swap_in(group)
        for seq in group:
            if again and seq is first:
                seq.num_computed = self._allocator.match_prefix(seq)
                if seq.preemptions:
                    self._recovery.found_again(group, seq.num_computed)
            elif again:
                seq.num_computed = self._allocator.whole_blocks(seq.request.prompt_len)
                self._allocator.fork(first, seq)
            seq.status = Status.RUNNING
            self._running.append(seq)
            num_new = self._compute(seq, batch)
            if again:
                self._log.emit(Recovered if seq.preemptions else Admitted, seq.id, num_new)

    def _compute(self, seq: Sequence, batch: Batch) -> int:
        """Schedules what a sequence has not computed, as far as the step allows; there is room for it."""
        uncomputed = num_new = seq.num_tokens - seq.num_computed
        if uncomputed > batch.most_of_one:
            num_new = self._admission.cut(seq, uncomputed, batch)
        if not self._allocator.allocate_slots(seq, num_new):
            raise AssertionError(f"{seq} was told that it fits, and does not: {self._allocator.memory_map()}")
        if num_new < uncomputed and self._rules.prompts_first:
            self.begun = seq
        batch.add(seq, num_new)
        self._admission.charge(num_new, batch)
        return num_new
