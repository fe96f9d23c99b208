"""What became of a request: from its arrival to its last token, or to the word that it never will."""

from typing import NamedTuple

from pycore.named_tuples import shown


class Arrived(NamedTuple):
    """A request joined the waiting queue."""

    seq: int
    prompt_len: int
    output_len: int


class Rejected(NamedTuple):
    """A request that can never fit was turned away.

    Attributes:
        needed: slots it would hold at its longest ("pool"), or its prompt plus output tokens ("context").
        limit: the most that one sequence can hold in this pool, or the context limit.
        reason: "pool" or "context".
    """

    seq: int
    needed: int
    limit: int
    reason: str


class Outgrown(NamedTuple):
    """A request has more tokens than the whole pool has room for, and can never run on. Told once.

    Some real engines do not notice, and wait or start over for ever.

    Attributes:
        needed: slots that it needs to go on.
        limit: the most that one sequence can hold in this pool.
    """

    seq: int
    needed: int
    limit: int


class Waiting(NamedTuple):
    """The head of the queue could not be admitted in this step, and why. Told once per change.

    Attributes:
        needed, free, largest_free: slots wanted, free in all, and in the largest single piece that may
            be handed out at once (paged: equal to free).
        reason: "memory" (not enough free), "fragmented" (enough free, not in one piece), "watermark"
            (enough free, but the admission headroom would be used), "batch" (max_num_seqs are running),
            "preempted" (this step preempted; nobody is admitted in it), "budget" (this step computes as many
            tokens as it may), "set_aside" (enough free, but a share is kept for the tokens to come).
        cached: of the free slots, those that hold a prefix which may be asked for again. Left out of `repr`.
    """

    seq: int
    needed: int
    free: int
    largest_free: int
    reason: str
    cached: int = 0

    def __repr__(self) -> str:
        return shown(self, hidden=1)


class Admitted(NamedTuple):
    """A waiting sequence started to run; its prompt's KV is written in this step."""

    seq: int
    num_tokens: int


class Recovered(NamedTuple):
    """A preempted sequence runs again: prompt and generated tokens are computed once more."""

    seq: int
    num_tokens: int


class Preempted(NamedTuple):
    """A running sequence lost all its KV so that `by` could grow (it may be the same one).

    Attributes:
        num_lost: tokens whose KV must be computed again.
        victim: the rule that picked it, one of policies.VICTIM. Left out of `repr`.
    """

    seq: int
    by: int
    num_lost: int
    victim: str = "latest_arrival"

    def __repr__(self) -> str:
        return shown(self, hidden=1)


class Dropped(NamedTuple):
    """A beam was not among the best and left its group."""

    seq: int


class Finished(NamedTuple):
    """The last output token is out."""

    seq: int
    num_generated: int


RequestEvent = Arrived | Rejected | Outgrown | Waiting | Admitted | Recovered | Preempted | Dropped | Finished
