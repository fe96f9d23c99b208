"""In which order free blocks are handed out: the choices behind BlockPool.

Any free block will do for a paged cache, so the order is a matter of taste; it decides what the pool looks
like and makes the figures of the sources reproducible. Each choice is one class with `pop`, `take`,
`put`, `__len__` and `__iter__`, listed in FREE_ORDERS.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Protocol

from pycore.rng import Rng


class FreeList(Protocol):
    """The free blocks of a pool. The pool checks the counts; a list only keeps an order."""

    def pop(self) -> int:
        """Removes and returns the next block; the caller has checked that there is one."""

    def take(self, n: int) -> list[int]:
        """Removes and returns the next `n` blocks; the caller has checked that there are as many."""

    def put(self, blocks: list[int]) -> None:
        """Adds blocks that became free, in the order given."""

    def __len__(self) -> int:
        """How many blocks are free."""

    def __iter__(self) -> Iterator[int]:
        """All free blocks, in no promised order."""


class LastFreedFirst:
    """A stack, as vLLM V0 keeps: the block freed last is handed out first. O(1) a block.

    >>> free = LastFreedFirst(range(4))
    >>> free.take(2), free.put([0]), free.take(2)
    ([0, 1], None, [0, 2])
    """

    __slots__ = ("_stack",)

    def __init__(self, blocks: Iterable[int]) -> None:
        self._stack = list(blocks)[::-1]

    def pop(self) -> int:
        """The top of the stack."""
        return self._stack.pop()

    def take(self, n: int) -> list[int]:
        """The top `n` of the stack, top first."""
        stack = self._stack
        at = len(stack) - n
        taken = stack[at:][::-1]
        del stack[at:]
        return taken

    def put(self, blocks: list[int]) -> None:
        """Pushes them so that the last one given lies on top."""
        self._stack.extend(blocks)

    def __len__(self) -> int:
        return len(self._stack)

    def __iter__(self) -> Iterator[int]:
        return iter(self._stack)


class Ascending:
    """The lowest-numbered free block first. O(log n) a block.

    >>> free = Ascending(range(4))
    >>> free.take(3), free.put([1]), free.take(2)
    ([0, 1, 2], None, [1, 3])
    """

    __slots__ = ("_heap",)

    def __init__(self, blocks: Iterable[int]) -> None:
        self._heap = list(blocks)
        heapify(self._heap)

    def pop(self) -> int:
        """The lowest number."""
        return heappop(self._heap)

    def take(self, n: int) -> list[int]:
        """The `n` lowest numbers, ascending."""
        heap = self._heap
        if n == 1:
            return [heappop(heap)]
        return [heappop(heap) for _ in range(n)]

    def put(self, blocks: list[int]) -> None:
        """Adds them to the heap."""
        heap = self._heap
        for block in blocks:
            heappush(heap, block)

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[int]:
        return iter(self._heap)


class Shuffled:
    """Blocks in a random order fixed by the seed; a freed block goes to a random place. O(1) a block."""

    __slots__ = ("_rng", "_stack")

    def __init__(self, blocks: Iterable[int], rng: Rng) -> None:
        self._stack = list(blocks)
        self._rng = rng
        rng.shuffle(self._stack)

    def pop(self) -> int:
        """The next of the shuffled order."""
        return self._stack.pop()

    def take(self, n: int) -> list[int]:
        """The next `n` of the shuffled order."""
        return [self._stack.pop() for _ in range(n)]

    def put(self, blocks: list[int]) -> None:
        """Swaps each into a random place."""
        stack = self._stack
        for block in blocks:
            at = self._rng.randrange(len(stack) + 1)
            stack.append(block)
            stack[at], stack[-1] = stack[-1], stack[at]

    def __len__(self) -> int:
        return len(self._stack)

    def __iter__(self) -> Iterator[int]:
        return iter(self._stack)


FREE_ORDERS: dict[str, Callable[[Iterable[int], Rng], FreeList]] = {
    "ascending": lambda blocks, rng: Ascending(blocks),
    "shuffled": Shuffled,
    "lifo": lambda blocks, rng: LastFreedFirst(blocks),
}
