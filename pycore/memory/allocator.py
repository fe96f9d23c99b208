"""The protocol between the scheduler and memory.

    Scheduler ──"n more slots for r5?"──▶ KVAllocator ──owns──▶ block tables or regions ──▶ the pool's slots
        ▲────────── yes / no ──────────────────┘

Memory says yes or no and never picks victims; the scheduler decides what happens next.
"""

from typing import Protocol

from pycore.memory.memory_map import MemoryMap
from pycore.memory.waste import Waste
from pycore.request import Request, Sequence


class KVAllocator(Protocol):
    """Gives token slots to sequences.

    Attributes:
        capacity: token slots in the pool.
        largest_holding: the most slots that one sequence can ever hold.
    """

    capacity: int
    largest_holding: int

    def slots_needed(self, request: Request) -> int:
        """Slots that the request will hold at its longest. Pure."""

    def slots_to_admit(self, seq: Sequence) -> int:
        """Slots that `allocate_slots(seq, seq.num_uncomputed)` would take if `seq` held none. Pure."""

    def allocate_slots(self, seq: Sequence, num_new: int, keep_free: int = 0) -> bool:
        """Makes room for `num_new` tokens after the `seq.num_computed` that have their KV.

        Args:
            seq: the sequence that will own the slots until `free(seq)`.
            num_new: tokens to be computed in this step.
            keep_free: slots that must stay free afterwards (the watermark); only asked of new sequences, and
                ignored by allocators that never grow.

        Returns:
            True if the slots are there now; False, and nothing changed, if not.
        """

    def commit(self, seq: Sequence) -> None:
        """Notes that the first `seq.num_computed` slots of the sequence now hold real KV."""

    def free(self, seq: Sequence) -> None:
        """Takes back all that the sequence holds.

        Raises:
            KeyError: it holds nothing.
        """

    @property
    def num_free(self) -> int:
        """Free slots."""

    @property
    def largest_free(self) -> int:
        """Slots in the largest piece that one sequence could be given at once."""

    def memory_map(self) -> MemoryMap:
        """Holdings and holes, read only."""

    def waste(self, demand: int) -> Waste:
        """`account(self.memory_map(), demand)` at a fraction of its price, for runs that keep no pictures."""

    def check(self) -> None:
        """Raises AssertionError with the broken state if an invariant does not hold."""
