"""What one forward pass computes."""

from pycore.memory.move import Move
from pycore.request import Sequence

NO_LIMIT = 1 << 62


class Batch:
    """The sequences of one iteration and how many tokens of each are computed.

    Attributes:
        seqs: in the order they were scheduled.
        num_new: tokens to compute, one number a sequence: 1 for a decode, the prompt or a chunk of it for a
            prefill.
        budget: tokens that may still be added; below 0 where a group was computed as a whole.
        chunk: most tokens of one sequence.
        limited: whether there is such a limit.
        num_decodes: how many at the head decode one token each; there may be more behind them.
        num_together: sequences of a cohort that decode one token each before all others, and are not listed.
        tokens_together: their tokens, summed.
        num_preempted: requests that were preempted while the batch was put together.
        moves: block copies to carry out before anything is computed, in order.
        has_chunks: whether some prompt is computed in part, so that no token comes of it yet.
        has_groups: whether some request of the load wants more than one sequence.
        has_tokens: whether some request of the load says what its prompt is.
    """

    __slots__ = (
        "budget",
        "chunk",
        "has_chunks",
        "has_groups",
        "has_tokens",
        "limited",
        "moves",
        "num_decodes",
        "num_new",
        "num_preempted",
        "num_together",
        "seqs",
        "tokens_together",
    )

    def __init__(self, budget: int = NO_LIMIT, chunk: int = NO_LIMIT) -> None:
        self.seqs: list[Sequence] = []
        self.num_new: list[int] = []
        self.budget = budget
        self.chunk = chunk
        self.limited = budget < NO_LIMIT or chunk < NO_LIMIT
        self.num_decodes = 0
        self.num_together = 0
        self.tokens_together = 0
        self.num_preempted = 0
        self.moves: list[Move] = []
        self.has_chunks = False
        self.has_groups = False
        self.has_tokens = False

    @property
    def most_of_one(self) -> int:
        """Tokens of one sequence that may still be added."""
        return min(self.budget, self.chunk)

    def add(self, seq: Sequence, num_new: int) -> None:
        """Schedules `num_new` tokens of `seq`."""
        self.seqs.append(seq)
        self.num_new.append(num_new)
        if self.limited:
            self.budget -= num_new

    def add_decodes(self, seqs: list[Sequence]) -> None:
        """Schedules one token of each, before anybody else."""
        self.seqs += seqs
        self.num_new += [1] * len(seqs)
        self.num_decodes = len(seqs)
        if self.limited:
            self.budget -= len(seqs)

    def add_together(self, count: int, num_tokens: int) -> None:
        """Schedules one token of each in a cohort of `count`, who have `num_tokens` so far."""
        self.num_together = count
        self.tokens_together = num_tokens
        if self.limited:
            self.budget -= count

    def list_together(self, seqs: list[Sequence]) -> None:
        """Lists the sequences of the cohort, which has been dissolved, like all others."""
        self.seqs[:0] = seqs
        self.num_new[:0] = [1] * len(seqs)
        self.num_decodes = len(seqs)
        self.num_together = self.tokens_together = 0

    def lift_limit(self) -> None:
        """Lets what is added from here on be as much as it is."""
        self.budget = self.chunk = NO_LIMIT
        self.limited = False

    def remove(self, seq: Sequence) -> None:
        """Takes `seq` out, if it is in."""
        if seq in self.seqs:
            at = self.seqs.index(seq)
            if self.limited:
                self.budget += self.num_new[at]
            if at < self.num_decodes:
                self.num_decodes -= 1
            del self.seqs[at], self.num_new[at]

    def __len__(self) -> int:
        return self.num_together + len(self.seqs)
