"""CPU memory for the blocks of preempted sequences: bounded, and no place to compute."""

from collections import Counter
from collections.abc import Sequence as Series

from pycore.memory.block_pool import BlockPool


class SwapSpace:
    """The CPU blocks of groups that were swapped out.

    A block that several sequences of a group share is moved once and stays shared (vLLM V0). Block tables
    keep their order; only the numbers change.
    """

    def __init__(self, pool: BlockPool) -> None:
        """Takes a pool of CPU blocks that nobody else uses."""
        self.pool = pool
        self._tables: dict[int, list[int]] = {}  # sequence → CPU blocks in logical order

    def put(self, tables: dict[int, Series[int]]) -> dict[int, int] | None:
        """Makes room for the tables of one group.

        Args:
            tables: GPU blocks in logical order, by sequence.

        Returns:
            CPU block by GPU block, each once; None, and nothing changed, if there is not enough room.
        """
        holders = Counter(block for table in tables.values() for block in table)
        targets = self.pool.allocate(len(holders))
        if targets is None:
            return None
        place = dict(zip(holders, targets, strict=True))
        for block, count in holders.items():
            for _ in range(count - 1):
                self.pool.share([place[block]])
        for seq, table in tables.items():
            self._tables[seq] = [place[block] for block in table]
        return place

    def tables(self, seqs: Series[int]) -> dict[int, list[int]]:
        """CPU blocks in logical order, by sequence, of sequences that are here."""
        return {seq: self._tables[seq] for seq in seqs}

    def num_blocks(self, seqs: Series[int]) -> int:
        """How many CPU blocks the sequences hold together."""
        return len({block for seq in seqs for block in self._tables[seq]})

    def take(self, seqs: Series[int]) -> None:
        """Frees what the sequences hold here."""
        for seq in seqs:
            self.pool.free(self._tables.pop(seq))

    def check(self) -> None:
        """Raises AssertionError unless tables and reference counts agree."""
        self.pool.check()
        holders = Counter(block for table in self._tables.values() for block in table)
        for block in range(self.pool.num_blocks):
            count = self.pool.ref_count(block)
            assert holders[block] == count, (
                f"CPU block {block}: {holders[block]} tables, reference count {count}"
            )
