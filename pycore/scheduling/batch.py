"""What one forward pass computes."""

from pycore.request import Sequence


class Batch:
    """The sequences of one iteration and how many tokens of each are computed.

    Attributes:
        seqs: in the order they were scheduled.
        num_new: tokens to compute, one number a sequence: 1 for a decode, the whole prompt for a prefill.
        num_preempted: sequences that were preempted while the batch was put together.
    """

    __slots__ = ("num_new", "num_preempted", "seqs")

    def __init__(self) -> None:
        self.seqs: list[Sequence] = []
        self.num_new: list[int] = []
        self.num_preempted = 0

    def add(self, seq: Sequence, num_new: int) -> None:
        """Schedules `num_new` tokens of `seq`."""
        self.seqs.append(seq)
        self.num_new.append(num_new)

    def __len__(self) -> int:
        return len(self.seqs)
