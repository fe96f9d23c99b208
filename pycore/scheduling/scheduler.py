"""First come, first served, over memory that may say no."""

from collections import deque
from collections.abc import Callable
from collections.abc import Sequence as Series
from itertools import islice

from pycore.events import (
    Admitted,
    Arrived,
    EventLog,
    NullLog,
    Recovered,
)
from pycore.memory.allocator import KVAllocator
from pycore.request import NO_SEQUENCES, Request, Sequence, Status
from pycore.scheduling.admission import Admission
from pycore.scheduling.batch import NO_LIMIT, Batch
from pycore.scheduling.cohort import Cohort
from pycore.scheduling.growth import Growth
from pycore.scheduling.outcome import Outcome
from pycore.scheduling.progress import Progress
from pycore.scheduling.queue_order import PLAIN, OrderRules
from pycore.scheduling.recovery import Recovery
from pycore.scheduling.rejections import Rejections
from pycore.scheduling.rules import CLASSIC, Rules
from pycore.scheduling.waiting_queue import WaitingQueue


class Scheduler:
    """The waiting queue and the running sequences (vLLM paper, sections 4.5 and 5).

    Running sequences come first: each gets room for its next token, and while there is none the victim is
    preempted: it loses all its KV and waits at the front of the queue, to be computed again. Then, in a step
    that preempted nobody, waiting sequences are admitted in order, the head blocking all behind it; so
    nobody is admitted before a preempted sequence has recovered. Where real engines differ, `rules` says so.

    Attributes:
        running: sequences that hold memory, in order of admission.
        has_tokens: whether some request of the load says what its prompt is.
    """

    def __init__(
        self,
        allocator: KVAllocator,
        victim: Callable[[Series[Sequence]], Sequence],
        *,
        max_len: int,
        max_num_seqs: int,
        watermark_slots: int,
        recovery: str = "recompute",
        rules: Rules = CLASSIC,
        queue: str = "fcfs",
        token_budget: int = NO_LIMIT,
        reserve_full_prompt: bool = True,
        order_rules: OrderRules = PLAIN,
        conservativeness: float = 1.0,
        log: EventLog | NullLog,
    ) -> None:
        """An empty queue over `allocator`.

        Args:
            allocator: the memory; nobody else allocates from it.
            victim: picks the running sequence to preempt.
            max_len, max_num_seqs: longest prompt plus output in tokens, most sequences that run at once.
            watermark_slots: slots that an admission must leave free while others run, so that they can grow.
            recovery: one of RECOVERIES, where the rules leave the choice; see Recovery.
            rules: how a step is decided.
            queue, token_budget, reserve_full_prompt, conservativeness: see config.SchedulerConfig.
            order_rules: the figures behind the order of the queue.
            log: told what happens and why.
        """
        self._rejections = Rejections(max_len, max_num_seqs, rules, allocator, log)
        self._queue = WaitingQueue(
            queue, allocator, log, rules=order_rules, preempted_to_back=rules.preempted_to_back
        )
        self._admission = Admission(
            allocator,
            rules,
            max_num_seqs=max_num_seqs,
            watermark_slots=watermark_slots,
            reserve_full_prompt=reserve_full_prompt,
            conservativeness=conservativeness,
        )
        self._recovery = Recovery(recovery, rules, allocator, log)
        self._progress = Progress(allocator, log, counts=not (rules.spare_block or rules.sets_aside))
        self._growth = Growth(
            allocator, victim, rules, self._queue, self._admission, self._recovery, self._progress
        )
        self.running = self._progress.running  # one list for good: it is asked for all the time
        self._allocator = allocator
        self._max_num_seqs = max_num_seqs
        self._watermark_slots = watermark_slots
        self._rules = rules
        self._token_budget = token_budget
        # Whose prompt is computed in part, where that goes before decodes.
        self._begun: Sequence | None = None
        self._has_groups = False
        self.has_tokens = False
        self._settled = False  # whether nothing but an arrival or the end of a sequence can change who runs
        self._held_up: str | None = None  # why the head of the queue waits, if that lasts as long
        self._log = log

    @property
    def waiting(self) -> deque[Sequence]:
        """The queue: the first sequence of each waiting request, head first."""
        return self._queue.seqs

    @property
    def num_finished(self) -> int:
        """Requests that finished since the start."""
        return self._progress.num_finished

    @property
    def num_preemptions(self) -> int:
        """Preemptions since the start."""
        return self._recovery.num_preemptions

    @property
    def num_recomputed(self) -> int:
        """Tokens whose KV preempted sequences lost and must compute again."""
        return self._recovery.num_recomputed

    @property
    def num_tokens_swapped(self) -> int:
        """Tokens whose KV was moved to CPU memory."""
        return self._recovery.num_tokens_swapped

    @property
    def rejected(self) -> dict[str, int]:
        """How many were rejected, by reason (see events.Rejected)."""
        return self._rejections.by_reason

    @property
    def num_rejected(self) -> int:
        """Requests turned away since the start."""
        return self._rejections.count

    def add(self, request: Request) -> Sequence:
        """Queues a request, or rejects it if it could never run to its end in this pool."""
        if self.idle:
            self._admission.reset()
        seq = Sequence(request)
        self._log.emit(Arrived, seq.id, request.prompt_len, request.output_len)
        if not self._rejections.on_arrival(seq):
            self._has_groups = self._has_groups or request.num_seqs > 1
            self.has_tokens = self.has_tokens or request.prompt is not None
            if self._has_groups or self.has_tokens:
                self._progress.dissolve()
            self._queue.add(seq)
            self._settled = self._settled and self._queue.is_fixed and self._queue.seqs[0] is not seq
            self._recovery.tell_if_outgrown(seq.group)
        return seq

    def schedule(self, now_ns: int) -> Batch:
        """Decides what the forward pass that starts at `now_ns` computes, and makes room for it."""
        batch = Batch(self._token_budget)
        batch.has_groups = self._has_groups
        batch.has_tokens = self.has_tokens
        lasts = self._settled and self._held_up and not self._has_groups  # beams leave without an end
        self._settled = not (self._rules.prompts_first and self._recovery.num_swapped)
        self._queue.step += 1
        if not self._rules.prompts_first:
            self._growth.grow(batch)
            if lasts and not batch.num_preempted:
                self._queue.tell(self._held_up)
            else:
                self._admit_waiting(batch, now_ns)
        elif self._recovery.num_swapped or not self._start_prompts(batch, now_ns):
            if self._rules.by_arrival:
                self.running.sort(key=_arrival)
            batch.lift_limit()  # it is one for prompts
            self._growth.grow(batch)
            self._return_swapped(batch, now_ns)
            if batch.num_preempted:
                self._admission.retracted(self.running)
            elif self.running:
                self._admission.decoded(1)
        self._settled = self._settled and not batch.num_preempted
        batch.moves = self._allocator.take_moves()
        return batch

    def decodes_ahead(self) -> int:
        """How many of the next steps only decode, and preempt, admit and cut nobody, if no request arrives.

        A lower bound: 0 where the next step has to be decided to know. In the last of them some may finish.
        Memory is another matter: whoever leaps ahead sees to it that the blocks last.
        """
        rules, running = self._rules, self.running
        if not self._settled or self._begun is not None:
            return 0
        if len(running) > self._token_budget and not rules.prompts_first:
            return 0
        if self._has_groups and any(seq.request.decoding == "beam" for seq in running):
            return 0  # its sequences part at every step
        cohort = self._progress.cohort
        if cohort is not None and cohort.count:
            return cohort.steps_to_end if cohort.has_all else 0
        steps = NO_LIMIT
        for seq in running:
            if seq.num_tokens - seq.num_computed != 1 or seq.first_token_ns is None:
                return 0
            if seq.total_len - seq.num_tokens < steps:
                steps = seq.total_len - seq.num_tokens
        if rules.by_arrival:
            running.sort(key=_arrival)
        if cohort is not None and running:
            cohort.gather()
            if not cohort.has_all:
                cohort.settle()
        return steps if running else 0

    @property
    def spare_slots(self) -> int:
        """Slots that have to be free for those who run to go on, needed or not."""
        if not self._rules.spare_block or not self.running:
            return 0
        largest = max([len(seq.group) for seq in self.running]) if self._has_groups else 1
        return largest * self._allocator.block_size

    def decode(self, steps: int, now_ns: int) -> list[Sequence]:
        """Books that many of the `decodes_ahead`; see Progress.decode."""
        finished = self._progress.decode(steps, now_ns)
        self._queue.step += steps
        self._admission.decoded(steps)
        if finished:
            self._admission.left()
        self._settled = not (finished and self.waiting)
        return finished

    def decode_together(self, steps: int, now_ns: int) -> tuple[list[Sequence], list[tuple[int, int]]]:
        """The same where all that run are in the cohort; see Progress.decode_together."""
        decoded = self._progress.decode_together(steps, now_ns)
        self._queue.step += steps
        self._settled = not (decoded[0] and self._queue.seqs)
        return decoded

    @property
    def cohort(self) -> Cohort | None:
        """Those that decode, where it is enough to count them."""
        return self._progress.cohort

    def _start_prompts(self, batch: Batch, now_ns: int) -> bool:
        """Computes prompts only, the one that was begun before those that wait; whether there are any."""
        going_on = self._begun
        if going_on is not None:
            self._begun = None
            self._compute(going_on, batch)
        return self._admit_waiting(batch, now_ns) or going_on is not None

    def _admit_waiting(self, batch: Batch, now_ns: int) -> bool:
        """Lets those at the head of the queue run for whom there is room; whether anybody left the queue."""
        queue, admission, running = self._queue, self._admission, self.running
        num_running = len(running)
        self._held_up = None
        admission.begin(running)
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
                self._settled = lasts or admission.closed
                queue.tell(reason)
                if not running:
                    self._recovery.tell_if_outgrown(seq.group)
                elif lasts:
                    self._held_up = reason
                break
            queue.admit(seq, now_ns)
            self._start(seq.group, batch)
        return len(waiting) < num_waiting

    def _return_swapped(self, batch: Batch, now_ns: int) -> None:
        """Brings swapped groups back, the earliest first, unless somebody was preempted (vLLM V0)."""
        num_running = len(self.running)
        while self._recovery.num_swapped and not batch.num_preempted:
            seq = self._queue.earliest_swapped()
            num_running += seq.request.num_seqs
            if num_running > self._max_num_seqs or not self._allocator.can_swap_in(
                seq.group, self._watermark_slots, capped=False
            ):
                self._settled = True  # until somebody leaves there is no more room, and nobody else is let in
                if not self.running:
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
            self.running.append(seq)
            num_new = self._compute(seq, batch)
            if again:
                self._log.emit(Recovered if seq.preemptions else Admitted, seq.id, num_new)

    def _compute(self, seq: Sequence, batch: Batch) -> int:
        """Schedules what a sequence has not computed, as far as the budget goes; there is room for it."""
        uncomputed = num_new = seq.num_tokens - seq.num_computed
        if uncomputed > batch.budget:
            num_new = self._admission.cut(seq, uncomputed, batch)
        if not self._allocator.allocate_slots(seq, num_new):
            raise AssertionError(f"{seq} was told that it fits, and does not: {self._allocator.memory_map()}")
        if num_new < uncomputed and self._rules.prompts_first:
            self._begun = seq
        batch.add(seq, num_new)
        return num_new

    def advance(self, batch: Batch, outcome: Outcome, now_ns: int) -> list[Sequence]:
        """Books what the forward pass did; see Progress."""
        finished = self._progress.advance(batch, outcome, now_ns)
        if finished or batch.has_chunks:
            self._admission.left()
        self._settled = self._settled and not (self.waiting and (finished or self._allocator.has_joined))
        self._allocator.has_joined = False
        return finished

    @property
    def longest_wait_steps(self) -> int:
        """The most steps that anybody waited who was let in for the first time."""
        return self._queue.longest_wait_steps

    @property
    def longest_wait_ns(self) -> int:
        """The same in ns, from the arrival on."""
        return self._queue.longest_wait_ns

    @property
    def head_needed(self) -> int:
        """Slots that the head of the queue wants; 0 when nobody waits."""
        return self._queue.head_needed

    @property
    def demand(self) -> int:
        """Slots that it wants in one piece; 0 when nobody waits."""
        waiting = self._queue.seqs
        return self._allocator.piece_to_admit(waiting[0].group) if waiting else 0

    @property
    def idle(self) -> bool:
        """Nobody runs and nobody waits."""
        return not self.running and not self._queue.seqs

    @property
    def stuck(self) -> bool:
        """Whether all that are here, or the head that blocks all others, can never run on."""
        if not self._recovery.outgrown or self._growth.thrashes:
            return self._growth.thrashes
        if self._rules.prompts_first and self._recovery.num_swapped:
            waiting = [self._queue.earliest_swapped()]  # which keeps all others out
        else:
            head_only = not self.running
            if head_only and self.waiting:
                head_only = not self._admission.starts_in_part(self.waiting[0], self._token_budget)
            waiting = islice(self.waiting, 1 if head_only else None)
        return not self.idle and self._recovery.is_hopeless(self.running, waiting)

    def check(self) -> None:
        """Raises AssertionError with the broken state if an invariant does not hold."""
        if self._progress.cohort is not None:
            self._progress.cohort.settle()
        self._allocator.check()
        for seq in self.running:
            assert seq.status is Status.RUNNING, f"{seq} is in the running list"
            assert 0 < seq.num_computed <= seq.num_tokens < seq.request.total_len, f"{seq} should have left"
        self._queue.check()
        swapped = sum(seq.status is Status.SWAPPED for seq in self.waiting)
        assert swapped == self._recovery.num_swapped, f"{self._recovery.num_swapped} swapped, not {swapped}"
        assert len(self.running) <= self._max_num_seqs, (
            f"{len(self.running)} run, at most {self._max_num_seqs} may"
        )
        holding = set(self._allocator.memory_map().seqs) - NO_SEQUENCES
        assert holding == {seq.id for seq in self.running}, (
            f"memory is held by {holding}, running: {self.running}"
        )


def _arrival(seq: Sequence) -> tuple[int, int]:
    return seq.request.arrival_ns, seq.request.id
