"""What an allocator holds, as read-only columns: what pictures and the waste account are made of."""

from typing import NamedTuple

from pycore.named_tuples import shown


class MemoryMap(NamedTuple):
    """Holdings and holes of one pool at one moment; one entry a holding sequence in the five columns.

    Attributes:
        capacity: token slots in the pool.
        block_size: slots a block.
        seqs: sequence ids, in order of admission.
        tokens: slots with real KV.
        final: slots that will have real KV when the sequence is done.
        held: slots kept from others.
        places: physical blocks in logical order (paged) or a 1-tuple with the first slot (contiguous).
        used: slots held in all; a shared block counts once.
        holes: lengths of the free pieces that count apart, in slots. A paged pool has one at most: any free
            block will do.
        cached: blocks that nobody holds and that a prefix cache still knows, the next to be evicted first;
            their slots are neither used nor in a hole. Left out of `repr`, as most pools have none.
    """

    capacity: int
    block_size: int
    seqs: tuple[int, ...]
    tokens: tuple[int, ...]
    final: tuple[int, ...]
    held: tuple[int, ...]
    places: tuple[tuple[int, ...], ...]
    used: int
    holes: tuple[int, ...]
    cached: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return shown(self, hidden=1)
