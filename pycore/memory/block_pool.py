"""The physical blocks of the KV cache, and the only owner of their reference counts."""

from collections.abc import Iterable

from pycore.memory.free_list import FreeList


class BlockPool:
    """`num_blocks` physical blocks, each free (reference count 0) or in use.

    Blocks are handed out by a free list; whoever holds a block in a table counts once. The pool knows
    nothing of tokens or sequences.

    Attributes:
        num_blocks: size of the pool.
        num_free: blocks that nobody holds.
        num_cached: of those, the ones that are still of use; none here (see caching_pool).
        num_owed: blocks that somebody holds, though it is not said yet which.
        has_shared: whether a block ever had more holders than one.

    >>> from pycore.memory.free_list import Ascending
    >>> pool = BlockPool(4, Ascending(range(4)))
    >>> pool.allocate(3)
    [0, 1, 2]
    >>> pool.allocate(2) is None  # all or nothing
    True
    >>> pool.share([2])
    >>> pool.free([2, 1])  # block 2 is still held once
    [1]
    """

    __slots__ = ("_free", "_ref_counts", "has_shared", "num_blocks", "num_cached", "num_free", "num_owed")

    def __init__(self, num_blocks: int, free_list: FreeList) -> None:
        """All blocks start free.

        Args:
            num_blocks: size of the pool, at least 1.
            free_list: holds each of the numbers 0 … num_blocks − 1 once.

        Raises:
            ValueError: no blocks, or a free list of another size.
        """
        if num_blocks < 1 or len(free_list) != num_blocks:
            raise ValueError(
                "a pool needs at least 1 block and a free list of as many, "
                f"not {num_blocks} and {len(free_list)}"
            )
        self.num_blocks = num_blocks
        self.num_free = num_blocks  # kept as a number: it is read for every token of every sequence
        self.num_owed = 0
        self.num_cached = 0
        self.has_shared = False
        self._free = free_list
        self._ref_counts = [0] * num_blocks

    def ref_count(self, block: int) -> int:
        """How many tables hold `block`."""
        return self._ref_counts[block]

    def cached(self) -> list[int]:
        """Blocks that nobody holds and that are still of use."""
        return []

    def allocate(self, n: int) -> list[int] | None:
        """Takes `n` free blocks, reference count 1 each; None, and nothing changed, if there are fewer.

        Raises:
            ValueError: n is negative.
        """
        if n > self.num_free:
            return None
        if n == 1:  # a sequence that grows takes one block at a time
            block = self._free.pop()
            self.num_free -= 1
            self._ref_counts[block] = 1
            return [block]
        if n < 0:
            raise ValueError(f"cannot allocate {n} blocks: expected 0 or more")
        blocks = self._free.take(n)
        self.num_free -= n
        ref_counts = self._ref_counts
        for block in blocks:
            ref_counts[block] = 1
        return blocks

    def owe(self, n: int) -> None:
        """Takes `n` free blocks, of which there are enough, and leaves open which."""
        self.num_free -= n
        self.num_owed += n

    def forgive(self, n: int) -> None:
        """Takes back `n` blocks that are owed."""
        self.num_free += n
        self.num_owed -= n

    def name(self, n: int) -> list[int]:
        """Says which blocks `n` of those owed are; reference count 1 each."""
        self.forgive(n)
        return self.allocate(n)

    def share(self, blocks: Iterable[int]) -> None:
        """Counts one more holder of each block.

        Raises:
            ValueError: one of them is free (then nothing changed).
        """
        blocks = list(blocks)
        ref_counts = self._ref_counts
        for block in blocks:
            if ref_counts[block] == 0:
                raise ValueError(f"cannot share block {block}: it is free")
        for block in blocks:
            ref_counts[block] += 1
        self.has_shared = self.has_shared or bool(blocks)

    def free(self, blocks: Iterable[int]) -> list[int]:
        """Counts one holder less of each block; those that reach 0 go back to the free list and are returned.

        Raises:
            ValueError: a block is freed more often than it is held; the blocks before it stay freed.
        """
        ref_counts = self._ref_counts
        released = []
        try:
            for block in blocks:
                count = ref_counts[block]
                if count == 1:
                    ref_counts[block] = 0
                    released.append(block)
                elif count > 1:
                    ref_counts[block] = count - 1
                else:
                    raise ValueError(f"cannot free block {block}: nobody holds it")
        finally:
            self._put_back(released)
        return released

    def _put_back(self, released: list[int]) -> None:
        """Nobody holds these any more."""
        self._free.put(released)
        self.num_free += len(released)

    def _unheld(self) -> list[int]:
        """All blocks that nobody holds, in no promised order."""
        return list(self._free)

    def check(self) -> None:
        """Raises AssertionError with the broken state unless free and held blocks make up the pool."""
        free = sorted(self._unheld())
        zero = [block for block, count in enumerate(self._ref_counts) if count == 0]
        assert free == zero, f"free list {free} is not the blocks of count 0: {zero}"
        assert len(free) == self.num_free + self.num_owed, (
            f"{self.num_free} blocks free and {self.num_owed} owed, not {free}"
        )
        assert min(self._ref_counts) >= 0, f"negative reference count in {self._ref_counts}"
