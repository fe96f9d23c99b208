"""Where in one flat stretch of slots a contiguous region goes: first fit or buddy, listed in PLACEMENTS."""

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Protocol


class Placement(Protocol):
    """Hands out contiguous regions of `capacity` slots.

    Attributes:
        largest: the longest region that an empty placement can give, in slots.
        num_free: free slots.
    """

    largest: int
    num_free: int

    def rounded(self, length: int) -> int:
        """Slots that a region of `length` really takes."""

    def place(self, length: int) -> int | None:
        """Takes a region of `rounded(length)` slots; its first slot, or None, and nothing changed."""

    def give_back(self, start: int, length: int) -> None:
        """Frees a region taken with the same `length`."""

    def holes(self) -> list[tuple[int, int]]:
        """Free pieces that can each be given as a whole: (start, length), by start."""

    def check(self) -> None:
        """Raises AssertionError with the broken state if an invariant does not hold."""


class FirstFit:
    """The lowest hole that is long enough; neighbouring holes are one. O(holes) a region.

    >>> memory = FirstFit(10)
    >>> memory.place(4), memory.place(3), memory.give_back(0, 4), memory.place(5), memory.holes()
    (0, 4, None, None, [(0, 4), (7, 3)])
    """

    def __init__(self, capacity: int) -> None:
        self.largest = capacity
        self.num_free = capacity
        self._capacity = capacity
        self._holes = [(0, capacity)]

    def rounded(self, length: int) -> int:
        """No rounding."""
        return length

    def place(self, length: int) -> int | None:
        """See Placement."""
        for i, (start, hole) in enumerate(self._holes):
            if hole >= length:
                if hole == length:
                    del self._holes[i]
                else:
                    self._holes[i] = (start + length, hole - length)
                self.num_free -= length
                return start
        return None

    def give_back(self, start: int, length: int) -> None:
        """See Placement; joins the hole before and the hole after."""
        holes = self._holes
        self.num_free += length
        i = bisect_left(holes, (start, 0))
        if i < len(holes) and start + length == holes[i][0]:
            length += holes.pop(i)[1]
        if i and sum(holes[i - 1]) == start:
            start, before = holes.pop(i - 1)
            length += before
            i -= 1
        holes.insert(i, (start, length))

    def holes(self) -> list[tuple[int, int]]:
        """See Placement."""
        return list(self._holes)

    def check(self) -> None:
        """Holes in order, inside the pool, never two adjacent, and as large as num_free in all."""
        end = -1
        for start, length in self._holes:
            assert start > end, f"holes overlap or touch: {self._holes}"
            assert length > 0, f"a hole is empty: {self._holes}"
            end = start + length
        assert end <= self._capacity, f"a hole ends beyond {self._capacity}: {self._holes}"
        assert sum(length for _, length in self._holes) == self.num_free, (
            f"{self.num_free} free, not {self._holes}"
        )


class Buddy:
    """Powers of two, split in halves and joined with their own twin only, as the paper's Orca places regions.

    A pool that is no power of two starts as several regions, largest first, each aligned to its size. The
    lowest free piece of the smallest sufficient order is taken. O(log capacity) splits a region.

    >>> memory = Buddy(12)
    >>> memory.holes()
    [(0, 8), (8, 4)]
    >>> memory.place(3), memory.place(2), memory.holes()
    (8, 0, [(2, 2), (4, 4)])
    """

    def __init__(self, capacity: int) -> None:
        self.largest = 1 << (capacity.bit_length() - 1)
        self.num_free = capacity
        self._free: list[list[int]] = [[] for _ in range(capacity.bit_length())]  # by order: starts, sorted
        start = 0
        for order in reversed(range(capacity.bit_length())):
            if capacity >> order & 1:
                self._free[order].append(start)
                start += 1 << order

    @staticmethod
    def _order(length: int) -> int:
        return (length - 1).bit_length()

    def rounded(self, length: int) -> int:
        """The next power of two."""
        return 1 << self._order(length)

    def place(self, length: int) -> int | None:
        """See Placement."""
        wanted = self._order(length)
        for order in range(wanted, len(self._free)):
            if self._free[order]:
                start = self._free[order].pop(0)
                for half in reversed(range(wanted, order)):
                    insort(self._free[half], start + (1 << half))
                self.num_free -= 1 << wanted
                return start
        return None

    def give_back(self, start: int, length: int) -> None:
        """See Placement; joins with the twin as long as it is free."""
        order = self._order(length)
        self.num_free += 1 << order
        while order + 1 < len(self._free):
            twin = start ^ (1 << order)
            at = bisect_left(self._free[order], twin)
            if at == len(self._free[order]) or self._free[order][at] != twin:
                break
            del self._free[order][at]
            start = min(start, twin)
            order += 1
        insort(self._free[order], start)

    def holes(self) -> list[tuple[int, int]]:
        """See Placement: adjacent pieces that are no twins stay apart, as they cannot be given as one."""
        return sorted((start, 1 << order) for order, starts in enumerate(self._free) for start in starts)

    def check(self) -> None:
        """Pieces aligned, disjoint, no free twins left unjoined, and as large as num_free in all."""
        end = 0
        for start, length in self.holes():
            assert start >= end, f"pieces overlap: {self.holes()}"
            assert start % length == 0, f"a piece is not aligned to its size: {self.holes()}"
            end = start + length
        assert sum(length for _, length in self.holes()) == self.num_free, (
            f"{self.num_free} free, not {self.holes()}"
        )
        for order, starts in enumerate(self._free[:-1]):
            for start in starts:
                assert start ^ (1 << order) not in starts, f"free twins of {1 << order} at {start}: {starts}"


PLACEMENTS: dict[str, Callable[[int], Placement]] = {"first_fit": FirstFit, "buddy": Buddy}
