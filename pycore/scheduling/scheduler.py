"""First come, first served, over memory that may say no."""

from collections import deque
from collections.abc import Callable, Set
from collections.abc import Sequence as Series
from itertools import islice

from pycore.events import (
    Arrived,
    EventLog,
    NullLog,
)
from pycore.memory.allocator import KVAllocator
from pycore.request import NO_SEQUENCES, Request, Sequence, Status
from pycore.scheduling.admission import Admission
from pycore.scheduling.batch import NO_LIMIT, Batch
from pycore.scheduling.foresight import Foresight
from pycore.scheduling.growth import Growth
from pycore.scheduling.intake import Intake
from pycore.scheduling.outcome import Outcome
from pycore.scheduling.policies import by_arrival
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
        foresight: steps that are decided already.
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
        chunk_limit: int = NO_LIMIT,
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
            queue, token_budget, chunk_limit, reserve_full_prompt, conservativeness: see
                config.SchedulerConfig.
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
        self._intake = Intake(
            allocator,
            rules,
            self._queue,
            self._admission,
            self._rejections,
            self._recovery,
            self.running,
            max_num_seqs=max_num_seqs,
            watermark_slots=watermark_slots,
            log=log,
        )
        self._allocator = allocator
        self._max_num_seqs = max_num_seqs
        self._rules = rules
        self._token_budget = token_budget
        self._chunk_limit = chunk_limit
        self.has_tokens = False
        self.foresight = Foresight(
            allocator, rules, self._queue, self._admission, self._intake, self._progress, token_budget
        )
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

    @property
    def outgrown(self) -> Set[int]:
        """Ids of requests that can never run on, and that the rules let wait for ever."""
        return self._recovery.outgrown

    def add(self, request: Request) -> Sequence:
        """Queues a request, or rejects it if it could never run to its end in this pool."""
        if self.idle:
            self._admission.reset()
        seq = Sequence(request)
        self._log.emit(Arrived, seq.id, request.prompt_len, request.output_len)
        if not self._rejections.on_arrival(seq):
            self._progress.has_groups = self._progress.has_groups or request.num_seqs > 1
            self.has_tokens = self.has_tokens or request.prompt is not None
            if self._progress.has_groups or self.has_tokens:
                self._progress.dissolve()
            self._queue.add(seq)
            self._intake.settled &= self._queue.is_fixed and self._queue.seqs[0] is not seq
            self._recovery.tell_if_outgrown(seq.group)
        return seq

    def schedule(self, now_ns: int) -> Batch:
        """Decides what the forward pass that starts at `now_ns` computes, and makes room for it."""
        alone = len(self.running) + len(self.waiting) < 2  # then nobody is kept waiting by a long prompt
        batch = Batch(self._token_budget, NO_LIMIT if alone else self._chunk_limit)
        batch.has_groups = self._progress.has_groups
        batch.has_tokens = self.has_tokens
        intake = self._intake
        # Beams leave without an end.
        lasts = intake.settled and intake.held_up and not self._progress.has_groups
        intake.settled = not (self._rules.prompts_first and self._recovery.num_swapped)
        self._queue.step += 1
        if not self._rules.prompts_first:
            self._growth.grow(batch)
            if lasts and not batch.num_preempted and not self._allocator.has_joined:
                self._queue.tell(intake.held_up)
            else:
                intake.admit_waiting(batch, now_ns)
            self._allocator.has_joined = False  # whoever still waits was asked with that
        elif self._recovery.num_swapped or not intake.start_prompts(batch, now_ns):
            if self._rules.by_arrival:
                self.running.sort(key=by_arrival)
            batch.lift_limit()  # it is one for prompts
            self._growth.grow(batch)
            intake.return_swapped(batch, now_ns)
            if batch.num_preempted:
                self._admission.retracted(self.running)
            elif self.running:
                self._admission.decoded(1)
        intake.settled = intake.settled and not batch.num_preempted
        batch.moves = self._allocator.take_moves()
        return batch

    def advance(self, batch: Batch, outcome: Outcome, now_ns: int) -> list[Sequence]:
        """Books what the forward pass did; see Progress."""
        finished = self._progress.advance(batch, outcome, now_ns)
        if finished or batch.has_chunks:
            self._admission.left()
        if self.waiting and (finished or self._allocator.has_joined):
            self._intake.settled = False
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
