"""Which leaf of a radix tree is given up first."""

from collections.abc import Callable, Iterable
from functools import partial
from heapq import heapify, heappop, heappush

from pycore.prefix_cache.node import Node

Rank = tuple[int, ...]
Policy = Callable[[Node], Rank]

SUPERSEDED_AT_LEAST = 64


def least_recently_used(node: Node) -> Rank:
    """The one whose last match or insert lies furthest back."""
    return (node.last_used,)


def least_frequently_used(node: Node) -> Rank:
    """The one that the fewest inserts went through; ties by last use."""
    return (node.hits, node.last_used)


def first_in_first_out(node: Node) -> Rank:
    """The oldest."""
    return (node.created,)


def most_recently_used(node: Node) -> Rank:
    """The one used last."""
    return (-node.last_used,)


def first_in_last_out(node: Node) -> Rank:
    """The youngest."""
    return (-node.created,)


def lowest_priority(node: Node) -> Rank:
    """The one of the lowest priority; ties by last use."""
    return (node.priority, node.last_used)


def segmented_lru(node: Node, protected_hits: int = 2) -> Rank:
    """Those with fewer than `protected_hits` inserts first, each segment by last use."""
    return (node.hits >= protected_hits, node.last_used)


# The leaf of the lowest rank goes first. Each reads what a node has; none may look at the tree.
EVICTION: dict[str, Policy] = {
    "lru": least_recently_used,
    "lfu": least_frequently_used,
    "fifo": first_in_first_out,
    "mru": most_recently_used,
    "filo": first_in_last_out,
    "priority": lowest_priority,
    "slru": segmented_lru,
}


def slru(protected_hits: int) -> Policy:
    """`segmented_lru` with another threshold."""
    return partial(segmented_lru, protected_hits=protected_hits)


class EvictionQueue:
    """The leaves that may go, lowest rank first. O(log n) for a leaf, however large the tree is.

    A heap whose entries are put right only when they come to the top. For each leaf it holds an entry that
    ranks no higher than the leaf does now: a use that raises the rank, as under LRU, costs nothing until the
    old entry comes up and is put back; one that lowers it, as under MRU, adds an entry at once, and the old
    one, superseded, is dropped when it comes up, or with all others of its kind once they are half the heap.
    """

    __slots__ = ("_heap", "_superseded", "policy")

    def __init__(self, policy: Policy) -> None:
        """Nothing may go; `policy` ranks what may."""
        self.policy = policy
        self._heap: list[tuple[Rank, int, Node]] = []
        self._superseded = 0

    def put(self, leaf: Node) -> None:
        """Tells that `leaf` may go from now on, or that it may still and was used."""
        rank = self.policy(leaf)
        entry = leaf.entry
        if entry is None:
            leaf.entry = rank
            heappush(self._heap, (rank, leaf.id, leaf))
        elif rank < entry:
            leaf.entry = rank
            heappush(self._heap, (rank, leaf.id, leaf))
            self._superseded += 1
            if self._superseded > max(SUPERSEDED_AT_LEAST, len(self._heap) // 2):
                self._heap = [each for each in self._heap if each[0] == each[2].entry]
                heapify(self._heap)
                self._superseded = 0

    def pop(self) -> Node | None:
        """Takes out the leaf of the lowest rank, ties by id; None if no leaf may go."""
        heap, policy = self._heap, self.policy
        while heap:
            rank, number, node = heappop(heap)
            if node.entry != rank:
                self._superseded -= 1
            elif node.children or node.users:
                node.entry = None  # it will be put again when it may go
            elif (now := policy(node)) != rank:
                node.entry = now
                heappush(heap, (now, number, node))
            else:
                node.entry = None
                return node
        return None

    def check(self, leaves: list[Node]) -> None:
        """Raises AssertionError unless each of `leaves`, all that may go, would come up in its turn."""
        entries = {(number, rank) for rank, number, _ in self._heap}
        assert len(entries) == len(self._heap), "a leaf is twice in the queue at the same rank"
        for leaf in leaves:
            assert leaf.entry is not None, f"{leaf} may go, but is not in the queue"
            assert leaf.entry <= self.policy(leaf), f"{leaf} would come up too late: {leaf.entry}"
        current = sum(rank == node.entry for rank, _, node in self._heap)
        assert len(self._heap) - current == self._superseded, f"{self._superseded} superseded entries"
        queued = {number for rank, number, node in self._heap if rank == node.entry}
        assert queued >= {leaf.id for leaf in leaves}, f"of {leaves} only {queued} are queued"


def eviction_order(nodes: Iterable[Node], policy: Policy) -> list[Node]:
    """Those of `nodes`, all of a tree, that nobody uses, as they go one after the other. Pure."""
    unused = {node.id: node for node in nodes if not node.users}
    num_children = {id: len(node.children) for id, node in unused.items()}
    leaves = [(policy(node), id, node) for id, node in unused.items() if not node.children]
    heapify(leaves)
    order = []
    while leaves:
        node = heappop(leaves)[2]
        order.append(node)
        parent = node.parent
        if parent.id in unused:
            num_children[parent.id] -= 1
            if not num_children[parent.id]:
                heappush(leaves, (policy(parent), parent.id, parent))
    return order
