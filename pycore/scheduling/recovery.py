"""How memory is taken from a running group, and given back to it."""

from collections.abc import Iterable

from pycore.events import EventLog, NullLog, Outgrown, Preempted, SwappedIn, SwappedOut
from pycore.memory.allocator import KVAllocator
from pycore.request import Sequence, Status
from pycore.scheduling.rules import Rules

RECOVERIES = ("recompute", "swap")


class Recovery:
    """Preempts groups: their KV is dropped, to be computed again, or moved to CPU memory and back.

    Attributes:
        num_preemptions: since the start.
        num_recomputed: tokens whose KV preempted sequences lost and must compute again.
        num_tokens_swapped: tokens whose KV was moved to CPU memory.
        num_swapped: requests in CPU memory now.
        outgrown: ids of requests that are larger than the pool and can never run on.
    """

    def __init__(self, kind: str, rules: Rules, allocator: KVAllocator, log: EventLog | NullLog) -> None:
        """Nobody was preempted.

        Args:
            kind: one of RECOVERIES, unless the rules have their own. Whatever has no room in CPU memory is
                computed again, also where the engine itself gives up.
            rules, allocator, log: see Scheduler.
        """
        self.num_preemptions = 0
        self.num_recomputed = 0
        self.num_tokens_swapped = 0
        self.num_swapped = 0
        self.outgrown: set[int] = set()
        self._kind = kind
        self._rules = rules
        self._allocator = allocator
        self._log = log

    def preempt(self, group: list[Sequence], grower: Sequence, victim: str) -> None:
        """Takes all GPU memory from the sequences of one request, so that `grower` can go on.

        Args:
            group: the sequences.
            grower: for whom there is no room; may be one of them.
            victim: the rule that picked them.
        """
        first = group[0]
        lost = sum(seq.num_computed for seq in group) - (len(group) - 1) * first.request.prompt_len
        self.num_preemptions += 1
        for seq in group:
            seq.preemptions += 1
        if self._swaps(group):
            moved = self._allocator.swap_out(group)
            if moved:
                self.num_swapped += 1
                self._log.emit(
                    SwappedOut, first.id, grower.id, moved, self._allocator.swap_space.pool.num_free
                )
                self.num_tokens_swapped += lost
                for seq in group:
                    seq.status = Status.SWAPPED
                    seq.num_swapped += lost
                return
        self.num_recomputed += lost
        self._log.emit(Preempted, first.id, grower.id, lost, victim)
        for seq in group:
            self._allocator.free(seq)
            seq.num_computed = 0
            seq.num_recomputed += lost
            seq.status = Status.WAITING
        self.tell_if_outgrown(group)

    def found_again(self, group: list[Sequence], num_tokens: int) -> None:
        """So many tokens of a preempted group need not be computed again: a prefix cache has them."""
        self.num_recomputed -= num_tokens
        for seq in group:
            seq.num_recomputed -= num_tokens

    def _swaps(self, group: list[Sequence]) -> bool:
        if self._rules.groups_swap is None:
            return self._kind == "swap"
        return self._rules.groups_swap and (len(group) > 1 or group[0].request.decoding == "beam")

    def swap_in(self, group: list[Sequence]) -> None:
        """Moves a swapped group back, for which there is room."""
        moved = self._allocator.swap_in(group)
        self.num_swapped -= 1
        self._log.emit(SwappedIn, group[0].id, moved, self._allocator.num_free)

    def tell_if_outgrown(self, group: list[Sequence]) -> None:
        """Says so, once, if a request can never run on and the rules would let it wait for ever."""
        if self._rules.reject != "never":
            return
        self._tell_once(group, self._allocator.slots_to_admit(group), self._allocator.largest_holding)

    def tell_if_lost(self, group: list[Sequence], watermark_slots: int) -> None:
        """Says so, once, if a swapped group would not be let back in even by an empty pool."""
        needed = self._allocator.slots_to_swap_in(group, capped=False)
        self._tell_once(group, needed, self._allocator.largest_holding - watermark_slots)

    def _tell_once(self, group: list[Sequence], needed: int, limit: int) -> None:
        request = group[0].request
        if needed > limit and request.id not in self.outgrown:
            self.outgrown.add(request.id)
            self._log.emit(Outgrown, group[0].id, needed, limit)

    def is_hopeless(self, running: Iterable[Sequence], waiting: Iterable[Sequence]) -> bool:
        """Whether some request has outgrown the pool, and there is none here that has not."""
        here = (seq.request.id for seqs in (running, waiting) for seq in seqs)
        return bool(self.outgrown) and all(id in self.outgrown for id in here)
