"""The free blocks of a pool some of whose free blocks are still of use: a queue, as vLLM V1 keeps."""

from collections import OrderedDict
from collections.abc import Container, Iterable, Iterator


class FreeQueue:
    """Handed out from the head. Implements FreeList.

    A freed block that is cached goes to the tail, so that the least recently used one is given up first. One
    that is not cached goes to the head, since nothing is lost with it. O(1) a block.

    >>> free = FreeQueue(range(5), cached={1})
    >>> free.take(3), free.put([2, 1, 0]), list(free)
    ([0, 1, 2], None, [2, 0, 3, 4, 1])
    >>> free.remove(4), free.take(3)
    (None, [2, 0, 3])
    """

    __slots__ = ("_cached", "_queue", "_uncached_first")

    def __init__(self, blocks: Iterable[int], cached: Container[int], *, uncached_first: bool = True) -> None:
        """All blocks in the order given.

        Args:
            blocks: the head first.
            cached: looked at whenever a block is freed.
            uncached_first: False: all go to the tail, as before mid 2026 and in nano-vllm. Then blocks of no
                use push out blocks of use.
        """
        self._queue: OrderedDict[int, None] = OrderedDict.fromkeys(blocks)
        self._cached = cached
        self._uncached_first = uncached_first

    def pop(self) -> int:
        """The block at the head."""
        return self._queue.popitem(last=False)[0]

    def take(self, n: int) -> list[int]:
        """The `n` blocks at the head, in order."""
        pop = self._queue.popitem
        return [pop(last=False)[0] for _ in range(n)]

    def put(self, blocks: list[int]) -> None:
        """Cached ones to the tail, the others to the head, both in the order given."""
        queue, cached = self._queue, self._cached
        for block in blocks:  # quicker than OrderedDict.update
            queue[block] = None
        if self._uncached_first:
            for block in reversed([block for block in blocks if block not in cached]):
                queue.move_to_end(block, last=False)

    def remove(self, block: int) -> None:
        """Takes out a block from wherever it is.

        Raises:
            KeyError: it is not free.
        """
        del self._queue[block]

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[int]:
        """From the head on."""
        return iter(self._queue)
