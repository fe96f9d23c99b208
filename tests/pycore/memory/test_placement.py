import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.memory.placement import PLACEMENTS, Buddy, FirstFit


def test_first_fit_takes_the_lowest_hole_that_is_long_enough():
    memory = FirstFit(20)
    assert [memory.place(5), memory.place(3), memory.place(5)] == [0, 5, 8]
    memory.give_back(0, 5)
    assert memory.holes() == [(0, 5), (13, 7)]
    assert memory.place(6) == 13
    assert memory.place(2) == 0
    assert memory.holes() == [(2, 3), (19, 1)]


def test_first_fit_refuses_what_is_free_only_in_pieces():
    memory = FirstFit(12)
    assert [memory.place(4), memory.place(4), memory.place(4)] == [0, 4, 8]
    assert memory.holes() == []
    memory.give_back(0, 4)
    memory.give_back(8, 4)
    assert memory.num_free == 8
    assert memory.place(5) is None
    assert memory.holes() == [(0, 4), (8, 4)]


@pytest.mark.parametrize("last", ["before", "after", "between", "alone"])
def test_first_fit_joins_a_freed_region_with_its_neighbours(last):
    memory = FirstFit(12)
    for _ in range(6):
        memory.place(2)
    freed, region, expected = {
        "before": ([2], 0, [(0, 4)]),
        "after": ([2], 4, [(2, 4)]),
        "between": ([2, 6], 4, [(2, 6)]),
        "alone": ([0], 4, [(0, 2), (4, 2)]),
    }[last]
    for start in freed:
        memory.give_back(start, 2)
    memory.give_back(region, 2)
    assert memory.holes() == expected
    memory.check()


def test_buddy_rounds_to_the_next_power_of_two():
    assert [Buddy(64).rounded(n) for n in (1, 2, 3, 4, 5, 17, 64)] == [1, 2, 4, 4, 8, 32, 64]
    assert [FirstFit(64).rounded(n) for n in (1, 3, 17)] == [1, 3, 17]


def test_buddy_splits_in_halves_and_joins_twins_only():
    memory = Buddy(16)
    assert [memory.place(3), memory.place(4), memory.place(4)] == [0, 4, 8]
    memory.give_back(4, 4)
    memory.give_back(8, 4)
    # 4–7 and 8–15 are adjacent, but the twin of 4–7 is 0–3.
    assert memory.holes() == [(4, 4), (8, 8)]
    assert memory.place(9) is None
    memory.give_back(0, 3)
    assert memory.holes() == [(0, 16)]


def test_buddy_takes_the_lowest_piece_of_the_smallest_sufficient_size():
    memory = Buddy(16)
    assert memory.place(2) == 0
    assert memory.holes() == [(2, 2), (4, 4), (8, 8)]
    assert memory.place(3) == 4
    assert memory.place(1) == 2


@pytest.mark.parametrize(
    ("capacity", "regions"),
    [
        (1, [(0, 1)]),
        (6, [(0, 4), (4, 2)]),
        (7, [(0, 4), (4, 2), (6, 1)]),
        (12, [(0, 8), (8, 4)]),
        (256, [(0, 256)]),
        (260, [(0, 256), (256, 4)]),
    ],
)
def test_a_buddy_pool_of_any_size_is_regions_of_powers_of_two(capacity, regions):
    memory = Buddy(capacity)
    assert memory.holes() == regions
    assert memory.largest == regions[0][1]
    assert memory.place(memory.largest + 1) is None
    ones = [memory.place(1) for _ in range(capacity)]
    assert sorted(ones) == list(range(capacity))
    assert memory.place(1) is None
    for start in ones:
        memory.give_back(start, 1)
        memory.check()
    assert memory.holes() == regions  # regions never join each other


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("capacity", [1, 6, 16])
def test_the_largest_region_fits_an_empty_pool_and_no_larger_one_does(placement, capacity):
    memory = PLACEMENTS[placement](capacity)
    assert memory.place(memory.largest + 1) is None
    assert memory.place(memory.largest) == 0


@pytest.mark.parametrize(
    ("capacity", "holes", "num_free"),
    [
        (10, [(0, 2), (2, 3)], 5),  # adjacent
        (10, [(0, 3), (2, 3)], 6),  # overlapping
        (10, [(4, 2), (0, 2)], 4),  # out of order
        (10, [(8, 3)], 3),  # beyond the pool
        (10, [(0, 2), (4, 0)], 2),  # empty
        (10, [(0, 2)], 3),  # miscounted
    ],
)
def test_first_fit_check_catches_corruption(capacity, holes, num_free):
    memory = FirstFit(capacity)
    memory.check()
    memory._holes, memory.num_free = holes, num_free
    with pytest.raises(AssertionError):
        memory.check()


@pytest.mark.parametrize(
    ("free", "num_free"),
    [
        ([[], [0, 2], [], []], 4),  # twins that should have been joined
        ([[], [1], [], []], 2),  # not aligned
        ([[2], [2], [], []], 3),  # overlapping
        ([[], [2], [], []], 4),  # miscounted
    ],
    ids=["twins", "unaligned", "overlapping", "miscounted"],
)
def test_buddy_check_catches_corruption(free, num_free):
    memory = Buddy(8)
    memory.check()
    memory._free, memory.num_free = free, num_free
    with pytest.raises(AssertionError):
        memory.check()


class NaiveFirstFit:
    """The definition, slot by slot: 1 is taken."""

    def __init__(self, capacity: int) -> None:
        self.slots = bytearray(capacity)

    def place(self, length: int) -> int | None:
        start = self.slots.find(bytes(length))
        if start < 0:
            return None
        self.slots[start : start + length] = b"\1" * length
        return start

    def give_back(self, start: int, length: int) -> None:
        self.slots[start : start + length] = bytes(length)

    def free_pieces(self) -> list[tuple[int, int]]:
        pieces, start = [], 0
        for run in self.slots.split(b"\1"):
            if run:
                pieces.append((start, len(run)))
            start += len(run) + 1
        return pieces


class NaiveBuddy:
    """The definition, as a tree: a node is free, taken, or a pair of halves."""

    def __init__(self, capacity: int) -> None:
        self.roots = []
        start = 0
        for size in (1 << order for order in reversed(range(capacity.bit_length()))):
            if capacity & size:
                self.roots.append({"start": start, "size": size, "taken": False, "halves": None})
                start += size

    def leaves(self, node: dict | None = None) -> list[dict]:
        if node is None:
            return [leaf for root in self.roots for leaf in self.leaves(root)]
        return [node] if node["halves"] is None else [x for half in node["halves"] for x in self.leaves(half)]

    def place(self, length: int) -> int | None:
        size = 1
        while size < length:
            size *= 2
        fitting = [leaf for leaf in self.leaves() if not leaf["taken"] and leaf["size"] >= size]
        if not fitting:
            return None
        node = min(fitting, key=lambda leaf: (leaf["size"], leaf["start"]))
        while node["size"] > size:
            half = node["size"] // 2
            node["halves"] = [
                {"start": node["start"] + offset, "size": half, "taken": False, "halves": None}
                for offset in (0, half)
            ]
            node = node["halves"][0]
        node["taken"] = True
        return node["start"]

    def give_back(self, start: int, length: int) -> None:
        [leaf] = [leaf for leaf in self.leaves() if leaf["taken"] and leaf["start"] == start]
        leaf["taken"] = False
        for root in self.roots:
            self._join(root)

    def _join(self, node: dict) -> bool:
        """Whether the whole node is free; two free halves become one."""
        if node["halves"] is None:
            return not node["taken"]
        joined = [self._join(half) for half in node["halves"]]
        if all(joined):
            node["halves"] = None
            return True
        return False

    def free_pieces(self) -> list[tuple[int, int]]:
        return [(leaf["start"], leaf["size"]) for leaf in self.leaves() if not leaf["taken"]]


@pytest.mark.parametrize(("real", "naive"), [(FirstFit, NaiveFirstFit), (Buddy, NaiveBuddy)])
@given(data=st.data())
def test_places_and_holes_are_those_of_the_definition(real, naive, data):
    capacity = data.draw(st.integers(1, 70))
    memory, oracle = real(capacity), naive(capacity)
    regions: list[tuple[int, int]] = []
    for _ in range(data.draw(st.integers(1, 40))):
        if regions and data.draw(st.integers(0, 2)) == 0:
            region = data.draw(st.sampled_from(regions))
            regions.remove(region)
            memory.give_back(*region)
            oracle.give_back(*region)
        else:
            length = data.draw(st.integers(1, 1 + capacity // 2))
            start = memory.place(length)
            assert start == oracle.place(length)
            if start is not None:
                regions.append((start, length))
        memory.check()
        assert memory.holes() == oracle.free_pieces()
        assert memory.num_free == capacity - sum(memory.rounded(length) for _, length in regions)
