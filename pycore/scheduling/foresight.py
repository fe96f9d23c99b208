"""What is decided already: the steps ahead in which all that run only decode.

schedule ─▶ settled ─▶ decode … decode … decode, somebody finishes ─▶ schedule
                       └───── decodes_ahead ─────┘
"""

from pycore.memory.allocator import KVAllocator
from pycore.request import Sequence
from pycore.scheduling.admission import Admission
from pycore.scheduling.batch import NO_LIMIT
from pycore.scheduling.cohort import Cohort
from pycore.scheduling.intake import Intake
from pycore.scheduling.policies import by_arrival
from pycore.scheduling.progress import Progress
from pycore.scheduling.rules import Rules
from pycore.scheduling.waiting_queue import WaitingQueue


class Foresight:
    """Knows how many steps can be leapt over, and books those that were."""

    def __init__(
        self,
        allocator: KVAllocator,
        rules: Rules,
        queue: WaitingQueue,
        admission: Admission,
        intake: Intake,
        progress: Progress,
        token_budget: int,
    ) -> None:
        """Nobody runs; for the arguments see Scheduler, or they are its parts."""
        self._allocator = allocator
        self._rules = rules
        self._queue = queue
        self._admission = admission
        self._intake = intake
        self._progress = progress
        self._token_budget = token_budget

    @property
    def cohort(self) -> Cohort | None:
        """Those that decode, where it is enough to count them."""
        return self._progress.cohort

    def decodes_ahead(self) -> int:
        """How many of the next steps only decode, and preempt, admit and cut nobody, if no request arrives.

        A lower bound: 0 where the next step has to be decided to know. In the last of them some may finish.
        Memory is another matter: whoever leaps ahead sees to it that the blocks last.
        """
        rules, running = self._rules, self._progress.running
        if not self._intake.settled or self._intake.begun is not None:
            return 0
        if len(running) > self._token_budget and not rules.prompts_first:
            return 0
        if self._progress.has_groups and any(seq.request.decoding == "beam" for seq in running):
            return 0  # its sequences part at every step
        cohort = self._progress.cohort
        if cohort is not None and cohort.count:
            return cohort.steps_ahead
        if self._queue.seqs and self._allocator.finds_decoded and any(seq.request.answer for seq in running):
            return 0  # the head may find what is generated
        steps = NO_LIMIT
        for seq in running:
            if seq.num_tokens - seq.num_computed != 1 or seq.first_token_ns is None:
                return 0
            if seq.total_len - seq.num_tokens < steps:
                steps = seq.total_len - seq.num_tokens
        if rules.by_arrival:
            running.sort(key=by_arrival)
        if cohort is not None and running:
            cohort.gather()
            if not cohort.steps_ahead:
                cohort.settle()
        return steps if running else 0

    @property
    def spare_slots(self) -> int:
        """Slots that have to be free for those who run to go on, needed or not."""
        if not self._rules.spare_block or not self._progress.running:
            return 0
        largest = max([len(seq.group) for seq in self._progress.running]) if self._progress.has_groups else 1
        return largest * self._allocator.block_size

    def decode(self, steps: int, now_ns: int) -> list[Sequence]:
        """Books that many of the `decodes_ahead`; see Progress.decode."""
        finished = self._progress.decode(steps, now_ns)
        self._queue.step += steps
        self._admission.decoded(steps)
        if finished:
            self._admission.left()
        self._intake.settled = not (finished and self._queue.seqs)
        return finished

    def decode_together(self, steps: int, now_ns: int) -> tuple[list[Sequence], list[tuple[int, int]]]:
        """The same where all that run are in the cohort; see Progress.decode_together."""
        decoded = self._progress.decode_together(steps, now_ns)
        self._queue.step += steps
        self._intake.settled = not (decoded[0] and self._queue.seqs)
        return decoded
