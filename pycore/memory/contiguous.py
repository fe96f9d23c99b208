"""Memory before paging: one contiguous region for each sequence, reserved when it is admitted."""

from collections.abc import Callable, Iterable
from collections.abc import Sequence as Series

from pycore.events import EventLog, Forked, NullLog, RegionFreed, RegionReserved
from pycore.memory.memory_map import MemoryMap
from pycore.memory.move import Move
from pycore.memory.placement import Placement
from pycore.memory.waste import Waste, tell_apart
from pycore.request import Request, Sequence


def reserve_max(request: Request, max_len: int) -> int:
    """The longest that any request may become (Orca Max)."""
    return max_len


def reserve_pow2(request: Request, max_len: int) -> int:
    """The next power of two of the final length, at most the maximum (Orca Pow2).

    >>> reserve_pow2(Request(0, 0, prompt_len=100, output_len=300), 2048)
    512
    """
    return min(max_len, 1 << (request.total_len - 1).bit_length())


def reserve_oracle(request: Request, max_len: int) -> int:
    """Exactly the final length, as if it were known (Orca Oracle)."""
    return request.total_len


# Slots set aside for a request; vLLM paper, section 6.1 (facts W5).
RESERVATIONS: dict[str, Callable[[Request, int], int]] = {
    "max": reserve_max,
    "pow2": reserve_pow2,
    "oracle": reserve_oracle,
}


class Region:
    """One sequence's piece: slots [start, start + held), `asked` of them by the reservation rule."""

    __slots__ = ("asked", "final_tokens", "held", "num_tokens", "start")

    def __init__(self, start: int, held: int, asked: int, final_tokens: int) -> None:
        self.start = start
        self.held = held
        self.asked = asked
        self.num_tokens = 0
        self.final_tokens = final_tokens


class ContiguousAllocator:
    """A placement and a region for each sequence that holds one. Implements KVAllocator.

    Works on the same slots as a paged pool of `capacity / block_size` blocks, so that the two compare.
    """

    steady = None

    def __init__(
        self,
        placement: Placement,
        reservation: Callable[[Request, int], int],
        max_len: int,
        block_size: int,
        log: EventLog | NullLog,
    ) -> None:
        """Takes a placement that nobody else uses.

        Args:
            placement: all its slots are free.
            reservation: one of RESERVATIONS.
            max_len: the longest prompt plus output, in tokens.
            block_size: slots a block of the picture; has no effect on what is reserved.
            log: told of each reservation and release.
        """
        self.has_joined = False
        self.finds_decoded = False
        self.capacity = placement.num_free
        self.largest_holding = placement.largest
        self.block_size = block_size
        self._placement = placement
        self._reservation = reservation
        self._max_len = max_len
        self._regions: dict[int, Region] = {}
        self._spare: dict[int, list[Region]] = {}  # request of several sequences → regions without a sequence
        self._log = log

    def slots_needed(self, request: Request) -> int:
        """See KVAllocator. Nothing can be shared: each sequence has a region of its own."""
        return request.num_seqs * self._piece(request)

    def _piece(self, request: Request) -> int:
        return self._placement.rounded(self._reservation(request, self._max_len))

    def slots_to_admit(self, group: Series[Sequence], budget: int | None = None) -> int:
        """See KVAllocator. A region is reserved as a whole, however little is computed at first."""
        return self.slots_needed(group[0].request)

    def piece_to_admit(self, group: Series[Sequence]) -> int:
        """See KVAllocator."""
        return self._piece(group[0].request)

    def can_admit(self, group: Series[Sequence], keep_free: int, budget: int | None = None) -> bool:
        """See KVAllocator."""
        piece = self._piece(group[0].request)
        return sum(length // piece for _, length in self._placement.holes()) >= group[0].request.num_seqs

    def match_prefix(self, seq: Sequence) -> int:
        """See KVAllocator. A region holds nothing that was there before."""
        return 0

    def allocate_slots(self, seq: Sequence, num_new: int) -> bool:
        """See KVAllocator. The first call takes the regions of all sequences that the group will have."""
        if seq.id in self._regions:
            return True
        request = seq.request
        asked = self._reservation(request, self._max_len)
        starts: list[int] = []
        for _ in range(request.num_seqs):
            start = self._placement.place(asked)
            if start is None:
                for taken in starts:
                    self._placement.give_back(taken, asked)
                return False
            starts.append(start)
        held = self._placement.rounded(asked)
        regions = [Region(start, held, asked, request.kv_len) for start in starts]
        self._regions[seq.id] = regions[0]
        if request.num_seqs > 1:
            self._spare[request.id] = regions[:0:-1]
        for start in starts:
            self._log.emit(RegionReserved, seq.id, start, held, asked)
        return True

    def rooms(self, seqs: Series[Sequence]) -> list[int] | None:
        """See KVAllocator. A region has room for all that its sequence will ever write."""
        return [self._regions[seq.id].held - seq.num_computed for seq in seqs]

    def grow(self, seqs: Series[Sequence]) -> list[int]:
        """See KVAllocator."""
        raise ValueError(f"{seqs} cannot outgrow their regions")

    def commit(self, seqs: Iterable[Sequence]) -> None:
        """See KVAllocator."""
        for seq in seqs:
            self._regions[seq.id].num_tokens = seq.num_computed

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """See KVAllocator. The child gets the group's next region, and a copy of what the parent computed."""
        region = self._spare[child.request.id].pop()
        region.num_tokens = child.num_computed
        self._regions[child.id] = region
        self._log.emit(Forked, child.id, parent.id, child.name, 0)

    def free(self, seq: Sequence) -> None:
        """See KVAllocator. Regions of a group go back together, when its last sequence leaves."""
        region = self._regions.pop(seq.id)
        spare = self._spare.get(seq.request.id)
        if spare is None:
            self._give_back(seq, region)
            return
        region.num_tokens = 0
        spare.append(region)
        if len(spare) == seq.request.num_seqs:
            for region in self._spare.pop(seq.request.id):
                self._give_back(seq, region)

    def _give_back(self, seq: Sequence, region: Region) -> None:
        self._placement.give_back(region.start, region.asked)
        self._log.emit(RegionFreed, seq.id, region.start, region.held, self.largest_free)

    def whole_blocks(self, num_tokens: int) -> int:
        """See KVAllocator. Regions share nothing."""
        return 0

    def swap_out(self, group: Series[Sequence]) -> int:
        """See KVAllocator. Who has a region never lacks memory, so nobody is ever preempted."""
        return 0

    def slots_to_swap_in(self, group: Series[Sequence], *, capped: bool = True) -> int:
        """See KVAllocator."""
        return self.slots_to_admit(group)

    def can_swap_in(self, group: Series[Sequence], keep_free: int, *, capped: bool = True) -> bool:
        """See KVAllocator."""
        return False

    def swap_in(self, group: Series[Sequence]) -> int:
        """See KVAllocator."""
        raise KeyError(f"{group} was never swapped out")

    def take_moves(self) -> list[Move]:
        """See KVAllocator. Nothing is ever moved."""
        return []

    @property
    def num_free(self) -> int:
        """See KVAllocator."""
        return self._placement.num_free

    @property
    def num_cached(self) -> int:
        """See KVAllocator."""
        return 0

    @property
    def largest_free(self) -> int:
        """See KVAllocator."""
        return max((length for _, length in self._placement.holes()), default=0)

    def prefix_nodes(self) -> None:
        """See KVAllocator: nothing is cached."""

    def memory_map(self) -> MemoryMap:
        """See KVAllocator."""
        regions = self._regions.values()
        return MemoryMap(
            self.capacity,
            self.block_size,
            tuple(self._regions),
            tuple([region.num_tokens for region in regions]),
            tuple([region.final_tokens for region in regions]),
            tuple([region.held for region in regions]),
            tuple([(region.start,) for region in regions]),
            self.capacity - self.num_free,
            tuple([length for _, length in self._placement.holes()]),
        )

    def waste(self, demand: int) -> Waste:
        """See KVAllocator."""
        regions = self._regions.values()
        real = sum([region.num_tokens for region in regions])
        ever = sum([r.final_tokens if r.final_tokens < r.held else r.held for r in regions])
        holes = [length for _, length in self._placement.holes()]
        return tell_apart(real, ever, self.capacity - self.num_free, holes, demand)

    def check(self) -> None:
        """See KVAllocator: regions and holes tile the pool; no region is too short for its tokens."""
        self._placement.check()
        spare = [region for regions in self._spare.values() for region in regions]
        held = [(region.start, region.held) for region in [*self._regions.values(), *spare]]
        pieces = held + self._placement.holes()
        end = 0
        for start, length in sorted(pieces):
            assert start == end, f"slot {end} is in no piece or in two: {sorted(pieces)}"
            end = start + length
        assert end == self.capacity, f"pieces end at {end}, the pool at {self.capacity}"
        for seq_id, region in self._regions.items():
            assert region.num_tokens <= region.held, (
                f"r{seq_id}: {region.num_tokens} tokens in {region.held} slots"
            )
