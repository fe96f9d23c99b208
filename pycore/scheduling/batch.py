"""What one forward pass computes."""

from pycore.memory.move import Move
from pycore.request import Sequence


class Batch:
    """The sequences of one iteration and how many tokens of each are computed.

    Attributes:
        seqs: in the order they were scheduled.
        num_new: tokens to compute, one number a sequence: 1 for a decode, the whole prompt for a prefill.
        num_preempted: requests that were preempted while the batch was put together.
        moves: block copies to carry out before anything is computed, in order.
        has_groups: whether some request of the load wants more than one sequence.
    """

    __slots__ = ("has_groups", "moves", "num_new", "num_preempted", "seqs")

    def __init__(self) -> None:
        self.seqs: list[Sequence] = []
        self.num_new: list[int] = []
        self.num_preempted = 0
        self.moves: list[Move] = []
        self.has_groups = False

    def add(self, seq: Sequence, num_new: int) -> None:
        """Schedules `num_new` tokens of `seq`."""
        self.seqs.append(seq)
        self.num_new.append(num_new)

    def remove(self, seq: Sequence) -> None:
        """Takes `seq` out, if it is in."""
        if seq in self.seqs:
            at = self.seqs.index(seq)
            del self.seqs[at], self.num_new[at]

    def __len__(self) -> int:
        return len(self.seqs)
