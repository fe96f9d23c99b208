"""Whether the head of the queue may run: asks the batch, memory, and what those who run may still want."""

from collections.abc import Sequence as Series

from pycore.memory.allocator import KVAllocator
from pycore.request import Sequence, Status
from pycore.scheduling.batch import Batch
from pycore.scheduling.retraction import SetAside
from pycore.scheduling.rules import Rules


class Admission:
    """Says why somebody has to wait, or that he need not.

    Attributes:
        closed: whether nobody is even tried before some sequence has left (SGLang).
    """

    def __init__(
        self,
        allocator: KVAllocator,
        rules: Rules,
        *,
        max_num_seqs: int,
        watermark_slots: int,
        reserve_full_prompt: bool,
        conservativeness: float,
    ) -> None:
        """Nobody runs; for the arguments see Scheduler and config.SchedulerConfig."""
        self.closed = False
        self._allocator = allocator
        self._rules = rules
        self._max_num_seqs = max_num_seqs
        self._watermark_slots = watermark_slots
        self._reserve_full_prompt = reserve_full_prompt
        self._set_aside = SetAside(conservativeness) if rules.sets_aside else None
        self._anybody_decodes = False

    def begin(self, running: Series[Sequence], going_on: Sequence | None = None) -> None:
        """A pass over the queue begins; of those that run, the prompt of one may go on in it."""
        if self._set_aside is None:
            return
        decoding = [seq for seq in running if seq is not going_on]
        self._anybody_decodes = bool(decoding)
        if not decoding:
            self.closed = False
        if not self.closed:
            self._set_aside.begin(decoding)
            if going_on is not None:
                self._set_aside.admitted([going_on], self._allocator.block_size)

    def may_be_cut(self, seq: Sequence) -> bool:
        """Whether its prompt may be computed in pieces."""
        return self._rules.chunked and seq.request.num_seqs == 1

    def cut(self, seq: Sequence, num_new: int, batch: Batch) -> int:
        """Of `num_new` tokens, more than the step allows, those that are computed in it."""
        if not self.may_be_cut(seq):
            return num_new
        batch.has_chunks = True
        most = batch.most_of_one
        if self._set_aside is None:
            return most
        end = self._allocator.whole_blocks(seq.num_computed + most)  # SGLang ends a piece with a page
        return end - seq.num_computed if end > seq.num_computed else most

    def charge(self, num_new: int, batch: Batch) -> None:
        """SGLang takes whole pages from the budget: here what the last one has beyond `num_new` tokens."""
        if self._set_aside is not None and batch.limited:
            batch.budget -= -num_new % self._allocator.block_size

    def starts_in_part(self, seq: Sequence, budget: int) -> bool:
        """Whether a first piece of it fits into what is free, though all of it may not."""
        if self._reserve_full_prompt or not self.may_be_cut(seq):
            return False
        return self._allocator.can_admit(seq.group, 0, budget)

    def reason_to_wait(
        self, seq: Sequence, running: Series[Sequence], num_running: int, batch: Batch
    ) -> str | None:
        """Why the head of the queue cannot run in this step; None: it can.

        Args:
            seq: the head of the queue.
            running: who runs, those admitted in this step among them.
            num_running: how many would run with it.
            batch: of this step so far.
        """
        reason = self._reason(seq, running, num_running, batch)
        if self._set_aside is not None:
            if reason is None:
                self._set_aside.admitted(seq.group, self._allocator.block_size)
            else:
                self.closed = self._anybody_decodes and reason != "budget"
        return reason

    def _reason(self, seq: Sequence, running: Series[Sequence], num_running: int, batch: Batch) -> str | None:
        if batch.num_preempted:
            return "preempted"
        if batch.budget <= 0:
            return "budget"
        if num_running > self._max_num_seqs:
            return "batch"
        if self._set_aside is not None:
            return self._reason_by_tokens_to_come(seq.group)
        keep_free = self._watermark_slots if running or self._rules.empty_watermark else 0
        if seq.status is Status.SWAPPED:
            fits = self._allocator.can_swap_in(seq.group, keep_free)
        elif self._reserve_full_prompt or not self.may_be_cut(seq):
            fits = self._allocator.can_admit(seq.group, keep_free)
        else:
            fits = self._allocator.can_admit(seq.group, keep_free, batch.most_of_one)
        return None if fits else "memory"

    def _reason_by_tokens_to_come(self, group: Series[Sequence]) -> str | None:
        free, page = self._allocator.num_free, self._allocator.block_size
        slots = self._allocator.slots_to_admit(group)
        if slots > free:
            return "memory"
        rest_of_last_page = -group[0].num_tokens % page
        return None if self._set_aside.leaves(group, slots - rest_of_last_page, page, free) else "set_aside"

    def decoded(self, steps: int) -> None:
        """So many steps decoded and preempted nobody."""
        if self._set_aside is not None:
            for _ in range(steps):
                self._set_aside.ratio.step()

    def retracted(self, running: Series[Sequence]) -> None:
        """Somebody was preempted in this step; those that still run."""
        self.closed = False
        if self._set_aside is not None:
            self._set_aside.ratio.retracted(
                [seq.num_generated for seq in running], [seq.request.output_len for seq in running]
            )

    def left(self) -> None:
        """Some sequence has finished, or its prompt goes on in the next step."""
        self.closed = False

    def reset(self) -> None:
        """Nobody runs or waits."""
        self.closed = False
        if self._set_aside is not None:
            self._set_aside.ratio.reset()
