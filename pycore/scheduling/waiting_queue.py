"""Those that wait, in the order in which they are let in."""

from bisect import insort
from collections import deque
from functools import partial

from pycore.events import EventLog, NullLog, Waiting
from pycore.memory.allocator import KVAllocator
from pycore.request import Sequence, Status
from pycore.scheduling.policies import QUEUE, by_arrival
from pycore.scheduling.queue_order import ADMISSION, AS_THEY_CAME, CACHE_AWARE, PLAIN, Candidate, OrderRules


class WaitingQueue:
    """The queue, and why its head waits.

    Attributes:
        seqs: the first sequence of each waiting request, head first.
        step: schedulings so far; waiting is counted in them.
        longest_wait_steps, longest_wait_ns: the longest that anybody who was let in for the first time had
            waited since it arrived.
    """

    def __init__(
        self,
        order: str,
        allocator: KVAllocator,
        log: EventLog | NullLog,
        *,
        rules: OrderRules = PLAIN,
        preempted_to_back: bool = False,
    ) -> None:
        """Nobody waits.

        Args:
            order: one of policies.QUEUE or queue_order.ADMISSION.
            allocator: asked what the head needs, and what is cached of whom.
            log: told why it waits.
            rules: of an order of ADMISSION.
            preempted_to_back: whether a preempted request waits behind all others.
        """
        self.seqs: deque[Sequence] = deque()
        self.step = 0
        self.longest_wait_steps = 0
        self.longest_wait_ns = 0
        self._rank = QUEUE.get(order)
        self._arrange = None if order in QUEUE else ADMISSION[order]
        self._looks_up = order in CACHE_AWARE
        self._as_they_came = order in AS_THEY_CAME
        self._rules = rules
        self._preempted_to_back = preempted_to_back
        self._since: dict[int, int] = {}  # waiting request → step in which it came
        self._allocator = allocator
        self._log = log
        self._told: tuple | None = None  # the last Waiting event, so that it is not told every step

    @property
    def is_fixed(self) -> bool:
        """Whether the order of those that wait stays as it is while nobody comes or goes."""
        return self._arrange is None

    @property
    def by_rank(self) -> bool:
        """Whether those that wait are sorted by what they are, not by when they came."""
        return self._rank is not None

    def add(self, seq: Sequence) -> None:
        """Queues a new sequence, for the next scheduling."""
        self._since[seq.id] = self.step + 1
        if self._rank is None:
            self.seqs.append(seq)
        else:
            insort(self.seqs, seq, key=self._rank)

    def give_back(self, seq: Sequence) -> None:
        """Queues a preempted sequence: at the front, at the back, or where the order says."""
        self._since[seq.id] = self.step
        if self._rank is not None:
            insort(self.seqs, seq, key=self._rank)
        elif self._preempted_to_back:
            self.seqs.append(seq)
        else:
            self.seqs.appendleft(seq)

    def arrange(self) -> None:
        """Puts those that wait into the order in which they are to be let in, where that changes by itself.

        Whoever has been preempted and waits at the front stays there.
        """
        if self._arrange is None or len(self.seqs) < 2:
            return
        seqs = list(self.seqs)
        first = 0
        while not self._preempted_to_back and first < len(seqs) and seqs[first].preemptions:
            first += 1
        rest = seqs[first:]
        if self._as_they_came:
            rest.sort(key=lambda seq: (self._since[seq.id], seq.id))
        order = self._arrange([self._candidate(seq) for seq in rest], None, self._rules)
        self.seqs = deque(seqs[:first] + [rest[i] for i in order.positions])

    def _candidate(self, seq: Sequence) -> Candidate:
        request = seq.request
        key = self._allocator.prompt_key(seq) if self._looks_up else None
        return Candidate(
            key.tokens if key else (),
            request.output_len,
            -request.priority,
            request.arrival_ns,
            self.step - self._since[seq.id],
            key.namespace if key else None,
            partial(self._allocator.look_for, seq) if self._looks_up else None,
        )

    def admit(self, seq: Sequence, now_ns: int) -> None:
        """Takes a sequence out, to run."""
        if seq is self.seqs[0]:
            self.seqs.popleft()
        else:
            self.seqs.remove(seq)
        self._told = None  # whoever waits after an admission, waits anew
        since = self._since.pop(seq.id)
        if seq.admitted_ns is None:
            seq.admitted_ns = now_ns
            steps, ns = self.step - since, now_ns - seq.request.arrival_ns
            if steps > self.longest_wait_steps:
                self.longest_wait_steps = steps
            if ns > self.longest_wait_ns:
                self.longest_wait_ns = ns

    def drop(self, seq: Sequence) -> None:
        """Takes a sequence out that was turned away."""
        self.seqs.remove(seq)
        del self._since[seq.id]

    def earliest_swapped(self) -> Sequence:
        """Of those in CPU memory, the one that arrived first; there must be one."""
        swapped = (seq for seq in self.seqs if seq.status is Status.SWAPPED)
        return min(swapped, key=by_arrival)

    @property
    def head_needed(self) -> int:
        """Slots that the head of the queue wants; 0 when nobody waits."""
        if not self.seqs:
            return 0
        head = self.seqs[0]
        if head.status is Status.SWAPPED:
            return self._allocator.slots_to_swap_in(head.group)
        return self._allocator.slots_to_admit(head.group)

    def tell(self, reason: str) -> None:
        """Tells why the head waits, once per change; see events.Waiting."""
        allocator = self._allocator
        needed = self.head_needed
        free = allocator.num_free
        largest = allocator.largest_free
        if reason == "memory" and needed <= largest:
            reason = "watermark"
        elif reason == "memory" and needed <= free:
            reason = "fragmented"
        told = (self.seqs[0].id, needed, free, largest, reason, allocator.num_cached)
        if told != self._told:
            self._told = told
            self._log.emit(Waiting, *told)

    def check(self) -> None:
        """Raises AssertionError if somebody waits who should not."""
        for first in self.seqs:
            for seq in first.group:
                assert seq.status in (Status.WAITING, Status.SWAPPED), f"{seq} is in the waiting queue"
                assert (seq.num_computed > 0) == (seq.status is Status.SWAPPED), f"{seq} waits"
