"""The protocol between the scheduler and memory.

    Scheduler ──"room for n more tokens of r5?"──▶ KVAllocator ──owns──▶ block tables or regions ──▶ slots
        ▲──────────── yes / no ───────────────────────┘

Memory says yes or no and never picks victims; the scheduler decides what happens next.
"""

from collections.abc import Iterable
from collections.abc import Sequence as Series
from typing import Protocol

from pycore.memory.memory_map import MemoryMap
from pycore.memory.move import Move
from pycore.memory.steady_tables import SteadyTables
from pycore.memory.waste import Waste
from pycore.prefix_cache.columns import NodeColumns
from pycore.request import Request, Sequence


class KVAllocator(Protocol):
    """Gives token slots to sequences.

    Attributes:
        capacity: token slots in the pool.
        block_size: slots a block.
        largest_holding: the most slots that one sequence can ever hold.
        has_joined: whether a prefix cache came to know more since somebody set this to False: who waits may
            find more than when it was asked.
        finds_decoded: whether what a sequence generates is found while it still runs.
        steady: counts tables of sequences that decode together; None: each is looked at.
    """

    capacity: int
    block_size: int
    largest_holding: int
    has_joined: bool
    finds_decoded: bool
    steady: SteadyTables | None

    def slots_needed(self, request: Request) -> int:
        """Slots that all sequences of the request hold together at their longest. Pure."""

    def slots_to_admit(self, group: Series[Sequence], budget: int | None = None) -> int:
        """Slots that a group which holds nothing takes to compute all the tokens it has. Pure.

        Args:
            group: the sequences of one request.
            budget: how many tokens are computed at first, where that is not all; of a single sequence only.
        """

    def piece_to_admit(self, group: Series[Sequence]) -> int:
        """Slots that it takes in one piece; holes smaller than that are of no use to it. Pure."""

    def can_admit(self, group: Series[Sequence], keep_free: int, budget: int | None = None) -> bool:
        """Whether a group that holds nothing can be given all that it takes now. Pure.

        Args:
            group: the sequences of one request.
            keep_free: slots that must stay free afterwards (the watermark); of no meaning to an allocator
                whose sequences never grow.
            budget: see `slots_to_admit`.
        """

    def match_prefix(self, seq: Sequence) -> int:
        """Takes a share of the blocks that hold the beginning of the sequence already.

        Returns:
            The tokens in them, which need not be computed; fewer than the sequence has.
        """

    def allocate_slots(self, seq: Sequence, num_new: int) -> bool:
        """Makes room for `num_new` tokens after the `seq.num_computed` that have their KV.

        A block that others hold too is copied before it is written to.

        Args:
            seq: the sequence that will own the slots until `free(seq)`.
            num_new: tokens to be computed in this step.

        Returns:
            True if the slots are there now; False, and nothing changed, if not.
        """

    def rooms(self, seqs: Series[Sequence]) -> list[int] | None:
        """How many tokens each of these can still write into the slots that it holds. Pure.

        Returns:
            A number each; None if somebody's next write is into a block that others may hold too: then only
            `allocate_slots` can tell.
        """

    def grow(self, seqs: Series[Sequence]) -> list[int]:
        """Gives a block more to each of these, in this order; one may be named again. They must be free.

        Returns:
            How many slots of each block its sequence will never fill.
        """

    def commit(self, seqs: Iterable[Sequence]) -> None:
        """Notes that the first `num_computed` slots of each of these sequences now hold real KV."""

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """Gives `child` the first `child.num_computed` tokens of `parent`, of the same group. Never fails."""

    def free(self, seq: Sequence) -> None:
        """Takes back all that the sequence holds.

        Raises:
            KeyError: it holds nothing.
        """

    def whole_blocks(self, num_tokens: int) -> int:
        """Of `num_tokens` tokens, those in full blocks: what a group can share when it is recomputed."""

    def swap_out(self, group: Series[Sequence]) -> int:
        """Moves all that a group holds to CPU memory, if there is room.

        Returns:
            Blocks moved, each once however many share it; 0, and nothing changed, if there is no room.
        """

    def slots_to_swap_in(self, group: Series[Sequence], *, capped: bool = True) -> int:
        """The most slots that a swapped group may take when it comes back and goes on. Pure.

        Args:
            group: the sequences of one request.
            capped: never more than the request takes at its longest; vLLM V0 is stricter.
        """

    def can_swap_in(self, group: Series[Sequence], keep_free: int, *, capped: bool = True) -> bool:
        """Whether they are there, and `keep_free` more. Pure."""

    def swap_in(self, group: Series[Sequence]) -> int:
        """Moves all of a swapped group back, after `can_swap_in` has said yes; returns the blocks moved."""

    def take_moves(self) -> list[Move]:
        """The copies of KV that came of the calls since the last time, in the order to carry them out."""

    @property
    def num_free(self) -> int:
        """Slots that can be handed out: free, or cached and used by nobody."""

    @property
    def num_cached(self) -> int:
        """Of these, slots that hold a prefix which may be asked for again."""

    @property
    def largest_free(self) -> int:
        """Slots in the largest piece that one sequence could be given at once."""

    def memory_map(self) -> MemoryMap:
        """Holdings and holes, read only."""

    def prefix_nodes(self) -> NodeColumns | None:
        """What a prefix cache knows, to draw it; None: there is none, or nobody was to look at it."""

    def waste(self, demand: int) -> Waste:
        """`account(self.memory_map(), demand)` at a fraction of its price, for runs that keep no pictures."""

    def check(self) -> None:
        """Raises AssertionError with the broken state if an invariant does not hold."""
