"""Room for those that run to go on; where there is none, somebody is preempted."""

from collections import deque
from collections.abc import Callable
from collections.abc import Sequence as Series

from pycore.memory.allocator import KVAllocator
from pycore.request import Sequence
from pycore.scheduling.admission import Admission
from pycore.scheduling.batch import Batch
from pycore.scheduling.progress import Progress
from pycore.scheduling.recovery import Recovery
from pycore.scheduling.rules import Rules
from pycore.scheduling.waiting_queue import WaitingQueue


class Growth:
    """Gives each running sequence room for its next tokens, and preempts the victim while there is none.

    Attributes:
        thrashes: whether a request larger than the pool was computed and lost, and nobody got a token.
    """

    def __init__(
        self,
        allocator: KVAllocator,
        victim: Callable[[Series[Sequence]], Sequence],
        rules: Rules,
        queue: WaitingQueue,
        admission: Admission,
        recovery: Recovery,
        progress: Progress,
    ) -> None:
        """Nobody runs; for the first three see Scheduler, the others are its parts."""
        self.thrashes = False
        self._allocator = allocator
        self._victim = victim
        self._rules = rules
        self._queue = queue
        self._admission = admission
        self._recovery = recovery
        self._progress = progress
        self._emitted_before = -1  # tokens emitted when somebody last preempted himself

    def grow(self, batch: Batch) -> None:
        """Schedules the next tokens of all that run, as far as budget and memory go."""
        running = self._progress.running
        if self._progress.cohort is not None and self._decode_together(batch):
            at_once = batch.num_together
        else:
            at_once = 0 if self._rules.spare_block or batch.has_tokens else self._decode_first(batch)
        if at_once == len(running):
            return
        make_room = self._make_spare_room if self._rules.spare_block else self._allocator.allocate_slots
        limited = batch.limited
        queue = deque(running[at_once:])
        while queue:
            seq = queue.popleft()
            num_new = seq.num_tokens - seq.num_computed
            if limited and num_new > batch.most_of_one:
                if batch.budget <= 0 and seq is seq.group[0]:
                    return  # those behind it keep what they hold, and rest
                num_new = self._admission.cut(seq, num_new, batch)
            while not make_room(seq, num_new):
                if batch.num_together:
                    batch.list_together(running[: batch.num_together])
                    self._progress.cohort.settle(ahead=1)
                victims = self._victim(running).group
                self._recovery.preempt(victims, seq, self._victim.__name__)
                self._queue.give_back(victims[0])
                batch.num_preempted += 1
                for victim in victims:
                    running.remove(victim)
                    batch.remove(victim)
                    if victim in queue:
                        queue.remove(victim)
                if victims is seq.group:
                    self._note_self_preemption(seq)
                    if self._rules.ends_at_self and not self._queue.by_rank:
                        return  # the victim is the last, so there is nobody behind it
                    break
            else:
                batch.add(seq, num_new)

    def _decode_together(self, batch: Batch) -> bool:
        """Gives the cohort room for a token each, if there is room for all; else it dissolves."""
        cohort = self._progress.cohort
        if not cohort.count:
            return False
        if cohort.count <= batch.budget and cohort.tables.take(1):
            batch.add_together(cohort.count, cohort.num_tokens)
            return True
        cohort.settle()
        return False

    def _decode_first(self, batch: Batch) -> int:
        """Gives the first that run room for a token, as far as all they want is a token and there is room.

        Returns:
            How many they are; each of the others has to be looked at.
        """
        seqs, allocator = self._progress.running, self._allocator
        if sum([seq.num_tokens - seq.num_computed for seq in seqs]) != len(seqs):
            others = (i for i, seq in enumerate(seqs) if seq.num_tokens - seq.num_computed != 1)
            seqs = seqs[: next(others)]  # who has just been admitted is the last, and his prompt goes on
        if not seqs or len(seqs) > batch.budget:
            return 0
        rooms = allocator.rooms(seqs)
        if rooms is None:
            return 0
        if not all(rooms):
            if allocator.num_cached:
                return 0
            full = [i for i, room in enumerate(rooms) if not room]
            num_free = allocator.num_free // allocator.block_size
            if len(full) > num_free:
                seqs = seqs[: full[num_free]]
                del full[num_free:]
            if full:
                allocator.grow([seqs[i] for i in full])
        batch.add_decodes(seqs)
        return len(seqs)

    def _make_spare_room(self, seq: Sequence, num_new: int) -> bool:
        """Makes room if a group about to go on finds a free block for each of its sequences (vLLM V0)."""
        group = seq.group  # asked for as a whole, at its first sequence
        asked = len(group) * self._allocator.piece_to_admit(group) if seq is group[0] else 0
        return self._allocator.num_free >= asked and self._allocator.allocate_slots(seq, num_new)

    def _note_self_preemption(self, seq: Sequence) -> None:
        emitted = self._progress.num_emitted
        self.thrashes = seq.request.id in self._recovery.outgrown and emitted == self._emitted_before
        self._emitted_before = emitted
