"""What memory did: blocks and regions that changed hands, and what a prefix cache came to know."""

from typing import NamedTuple

from pycore.named_tuples import shown


class BlocksAllocated(NamedTuple):
    """A block table grew.

    Attributes:
        blocks: physical block numbers, in logical order.
        filled: the block that was full before, None for a table's first blocks.
        free: blocks left free afterwards.
    """

    seq: int
    blocks: tuple[int, ...]
    filled: int | None
    free: int


class BlocksFreed(NamedTuple):
    """A sequence gave up its block table.

    Attributes:
        blocks: those whose reference count fell to zero; they went back to the free list.
        free: blocks that are free now.
        kept: blocks of the table that others still hold.
    """

    seq: int
    blocks: tuple[int, ...]
    free: int
    kept: int = 0


class Forked(NamedTuple):
    """A new sequence of a group: a copy of its parent's block table, and no copy of its blocks.

    Attributes:
        seq: the child.
        parent: whose blocks it shares.
        name: of the child, for the log.
        shared: blocks held by both now; 0 where memory is contiguous and the child has a copy of its own.
    """

    seq: int
    parent: int
    name: str
    shared: int


class BlockCopied(NamedTuple):
    """A sequence was about to write into a block that others hold too, and got a copy of its own.

    Attributes:
        source, block: physical blocks; the sequence holds `block` in the place of `source`.
        holders: how many tables hold `source` still.
        free: blocks left free afterwards.
    """

    seq: int
    source: int
    block: int
    holders: int
    free: int


class PrefixShared(NamedTuple):
    """A sequence begins with the operator's prefix.

    Attributes:
        num_blocks: blocks of the prefix that its table holds now.
        num_tokens: tokens in them, which need not be computed.
    """

    seq: int
    num_blocks: int
    num_tokens: int


class PrefixHit(NamedTuple):
    """A sequence found its beginning cached.

    Attributes:
        blocks: that it holds now too, in logical order.
        num_tokens: tokens in them, which need not be computed.
    """

    seq: int
    blocks: tuple[int, ...]
    num_tokens: int


class BlocksEvicted(NamedTuple):
    """Cached blocks that nobody held were needed for something else.

    Attributes:
        seq: who got them, or some of them: a leaf of a tree goes whole.
        blocks: in the order they were given up.
        nodes: of a radix tree, in the same order; 0 nodes where there is none. Left out of `repr`.
    """

    seq: int
    blocks: tuple[int, ...]
    nodes: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return shown(self, hidden=1)


class PrefixCached(NamedTuple):
    """What a sequence computed joined the radix tree, as a new leaf.

    Attributes:
        blocks: of the leaf, in logical order.
        node: the new leaf.
        parent: the node that it hangs on.
        num_held: tokens before it that the tree had already.
    """

    seq: int
    blocks: tuple[int, ...]
    node: int
    parent: int
    num_held: int


class NodeSplit(NamedTuple):
    """Two prompts part within a node of the radix tree, which became two.

    Attributes:
        seq: whose look-up or insert it was.
        node: the lower half; it keeps its number and its children.
        upper: the new node above it.
        num_tokens: that the new node stands for.
    """

    seq: int
    node: int
    upper: int
    num_tokens: int


class DuplicatesFreed(NamedTuple):
    """A sequence computed what joined the radix tree meanwhile: it goes on with the tree's blocks.

    Attributes:
        blocks: its own, given back.
        free: blocks that are free now.
    """

    seq: int
    blocks: tuple[int, ...]
    free: int


class SwappedOut(NamedTuple):
    """A preempted group's blocks were copied to CPU memory.

    Attributes:
        seq: the group's first sequence.
        by: for whom there was no room.
        num_blocks: blocks copied, each once however many hold it.
        cpu_free: CPU blocks left free.
    """

    seq: int
    by: int
    num_blocks: int
    cpu_free: int


class SwappedIn(NamedTuple):
    """A swapped group is back in GPU memory; `num_blocks` blocks were copied, `free` are left free."""

    seq: int
    num_blocks: int
    free: int


class RegionReserved(NamedTuple):
    """One contiguous piece was set aside for a sequence's whole life.

    Attributes:
        start: first slot.
        held: slots taken, after the placement's rounding.
        asked: slots that the reservation rule wanted.
    """

    seq: int
    start: int
    held: int
    asked: int


class RegionFreed(NamedTuple):
    """A contiguous piece was given back; `largest_free` is the largest hole now, in slots."""

    seq: int
    start: int
    held: int
    largest_free: int


MemoryEvent = (
    BlocksAllocated
    | BlocksFreed
    | Forked
    | BlockCopied
    | PrefixShared
    | PrefixHit
    | BlocksEvicted
    | PrefixCached
    | NodeSplit
    | DuplicatesFreed
    | SwappedOut
    | SwappedIn
    | RegionReserved
    | RegionFreed
)
