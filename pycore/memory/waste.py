"""Where the slots of a pool go: real tokens, three kinds of waste, usable free space.

The kinds are those of the vLLM paper, section 3.1 (facts W1). Pure functions of a MemoryMap.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pycore.memory.memory_map import MemoryMap
from pycore.named_tuples import of_fields, shown


class Waste(NamedTuple):
    """The account of one pool at one moment, in slots; the six figures add up to the pool.

    Attributes:
        real: hold KV of a token.
        reserved: held for tokens still to come.
        internal: held and never used (internal fragmentation).
        external: free, but in pieces too small for the next waiting sequence (external fragmentation).
        usable: free otherwise.
        cached: held by nobody, and real KV of a prefix that may be asked for again; can be handed out when
            need be. Left out of `repr`, as most pools have none.
    """

    real: int
    reserved: int
    internal: int
    external: int
    usable: int
    cached: int = 0

    def __repr__(self) -> str:
        return shown(self, hidden=1)

    @property
    def used(self) -> int:
        """Slots held by sequences."""
        return self.real + self.reserved + self.internal

    @property
    def capacity(self) -> int:
        """Slots in the pool."""
        return self.used + self.external + self.usable + self.cached

    @property
    def share_of_used(self) -> float:
        """Waste inside used blocks: 1 − real / used; 0 for an empty pool."""
        return 1 - self.real / self.used if self.used else 0.0

    @property
    def share_of_pool(self) -> float:
        """Waste of the whole pool: 1 − (real + cached) / capacity. Not the same as `share_of_used`."""
        return 1 - (self.real + self.cached) / self.capacity


def covered(lengths: Sequence[int], tables: Sequence[Sequence[int]], block_size: int) -> int:
    """Slots that the first `lengths` tokens of each table of blocks take, those of a shared block once."""
    full: set[int] = set()  # only counted and looked into, so that its order does not matter
    partial: dict[int, int] = {}
    for length, blocks in zip(lengths, tables, strict=True):
        num_full, rest = divmod(length, block_size)
        full.update(blocks[:num_full])
        if rest and num_full < len(blocks):
            partial[blocks[num_full]] = max(rest, partial.get(blocks[num_full], 0))
    return len(full) * block_size + sum([rest for block, rest in partial.items() if block not in full])


def account(memory: MemoryMap, demand: int) -> Waste:
    """Tells the slots of a pool apart.

    Args:
        memory: holdings and holes.
        demand: slots that the next waiting sequence wants in one piece; 0 when nobody waits, and then no
            free slot counts as external fragmentation. Paged pools have a single hole, so theirs is 0 too.

    >>> paged = MemoryMap(256, 4, (0,), (213,), (232,), (232,), ((),), 232, (24,))
    >>> account(paged, 40)
    Waste(real=213, reserved=19, internal=0, external=0, usable=24)
    >>> round(100 * account(paged, 40).share_of_used), round(100 * account(paged, 40).share_of_pool)
    (8, 17)
    """
    _, block_size, _, tokens, final, held, places, used, holes, cached = memory
    held_by_all = sum(held)
    if held_by_all <= used:  # nobody shares
        real = sum(tokens)
        ever = held_by_all - sum(
            [slots - last for slots, last in zip(held, final, strict=True) if slots > last]
        )
    else:
        real, ever = covered(tokens, places, block_size), covered(final, places, block_size)
    return tell_apart(real, ever, used, holes, demand, len(cached) * block_size)


def tell_apart(real: int, ever: int, used: int, holes: Sequence[int], demand: int, cached: int = 0) -> Waste:
    """The account from its sums, for allocators that have them at hand.

    Args:
        real: held slots with real KV.
        ever: held slots that have real KV now or later.
        used: held slots.
        holes: lengths of the free pieces that count apart.
        demand: see `account`.
        cached: slots of cached blocks that nobody holds.
    """
    free = sum(holes)
    external = sum([hole for hole in holes if hole < demand]) if len(holes) > 1 else 0
    return of_fields(Waste, (real, ever - real, used - ever, external, free - external, cached))
