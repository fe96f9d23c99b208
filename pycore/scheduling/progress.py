"""What a forward pass did to the sequences that run."""

from pycore.events import Dropped, EventLog, Finished, NullLog
from pycore.memory.allocator import KVAllocator
from pycore.request import FIRST_FORKED_ID, Sequence, Status
from pycore.scheduling.batch import Batch
from pycore.scheduling.cohort import Cohort
from pycore.scheduling.outcome import Outcome


class Progress:
    """The running sequences, and how they go on: a token more, parted, dropped, finished.

    Attributes:
        running: sequences that hold memory, in order of admission.
        cohort: those of them that decode, where that is enough to know; None: each is looked at.
        has_groups: whether some request of the load wants more than one sequence.
        num_finished: requests that finished.
        num_emitted: tokens that came out.
    """

    def __init__(self, allocator: KVAllocator, log: EventLog | NullLog, *, counts: bool = False) -> None:
        """Nobody runs.

        Args:
            allocator, log: see Scheduler.
            counts: whether those that decode may be counted together, if the allocator can do it.
        """
        self.running: list[Sequence] = []
        self.cohort: Cohort | None = None
        if counts and allocator.steady is not None:
            self.cohort = Cohort(self.running, allocator.steady)
        self.has_groups = False
        self.num_finished = 0
        self.num_emitted = 0
        self._allocator = allocator
        self._log = log
        self._num_forked = 0
        self._num_samples: dict[int, int] = {}  # request of several sequences → sequences made so far

    def advance(self, batch: Batch, outcome: Outcome, now_ns: int) -> list[Sequence]:
        """Books what the forward pass did: KV written, one token more each; those that are done leave.

        A sequence whose prompt is computed in part gets no token.

        Args:
            batch: what was computed.
            outcome: the tokens that came of it, and which sequences part.
            now_ns: the time at which its tokens are out.

        Returns:
            The sequences that finished, in batch order.
        """
        finished = []
        if batch.num_together:
            self.num_emitted += batch.num_together
            finished = self.cohort.advance(1)[0]
        seqs = batch.seqs
        for seq, num_new in zip(seqs, batch.num_new, strict=True):
            seq.num_computed += num_new
        self._allocator.commit(seqs)
        if batch.has_chunks:
            seqs = [seq for seq in seqs if seq.num_computed == seq.num_tokens]
        if outcome.tokens:
            for seq in seqs:
                if seq.id in outcome.tokens:
                    seq.tokens.append(outcome.tokens[seq.id])
        if outcome.branches:
            seqs = self._branch(seqs, outcome)
        self.num_emitted += len(seqs)
        for seq in seqs:
            seq.num_tokens = num_tokens = seq.num_tokens + 1
            if seq.first_token_ns is None:
                seq.first_token_ns = now_ns
            if num_tokens >= seq.total_len:
                finished.append(seq)
        if finished:
            self._retire(finished, now_ns)
        if self.cohort is not None:
            self.cohort.gather()
        return finished

    def dissolve(self) -> None:
        """From here on each is looked at."""
        if self.cohort is not None:
            self.cohort.settle()
            self.cohort = None

    def decode_together(self, steps: int, now_ns: int) -> tuple[list[Sequence], list[tuple[int, int]]]:
        """As `decode`, where all that run are in the cohort and their tables have the blocks.

        Returns:
            The sequences that finished, in batch order; and see SteadyTables.advance.
        """
        self.num_emitted += steps * self.cohort.count
        decoded = self.cohort.advance(steps)
        if decoded[0]:
            self._retire(decoded[0], now_ns)
        return decoded

    def decode(self, steps: int, now_ns: int) -> list[Sequence]:
        """Books `steps` steps in which all that run decoded a token each, and none finished but in the last.

        Args:
            steps: how many.
            now_ns: the time at which the last of them is done.

        Returns:
            The sequences that finished, in batch order.
        """
        finished = []
        self.num_emitted += steps * len(self.running)
        for seq in self.running:
            seq.num_computed += steps
            seq.num_tokens = num_tokens = seq.num_tokens + steps
            if num_tokens >= seq.total_len:
                finished.append(seq)
        self._allocator.commit(self.running)
        self._retire(finished, now_ns)
        return finished

    def _retire(self, finished: list[Sequence], now_ns: int) -> None:
        for seq in finished:
            seq.status = Status.FINISHED
            seq.finished_ns = now_ns
            seq.group.remove(seq)
            if not seq.group:
                self.num_finished += 1
                self._num_samples.pop(seq.request.id, None)
            if self._log.keeps:
                self._log.emit(Finished, seq.id, seq.num_generated)
            self._allocator.free(seq)
            self.running.remove(seq)

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
            self.running[:] = [seq for seq in self.running if seq.status is Status.RUNNING]
        return [seq for seq in seqs if seq.status is Status.RUNNING] + born

    def _fork(self, parent: Sequence) -> Sequence:
        self._num_forked += 1
        sample = self._num_samples.get(parent.request.id, 1)
        self._num_samples[parent.request.id] = sample + 1
        child = parent.fork(FIRST_FORKED_ID + self._num_forked, sample)
        self._allocator.fork(parent, child)
        self.running.insert(self.running.index(parent.group[-2]) + 1, child)  # a group stays together
        return child
