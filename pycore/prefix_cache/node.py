"""A node of a radix tree: a stretch of tokens, and where their KV lies."""

from array import array
from collections.abc import Hashable


class Node:
    """One edge of the tree together with the node it leads to.

    Attributes:
        id: in order of creation; 0 is the root.
        parent: None for the root, and once the node is evicted.
        edge: by what the parent's `children` find it: its first token, or the tuple of its first page.
        children: by edge, in the order in which the edges came to be.
        place: orders it among its siblings: when its edge came to be.
        tokens: of this stretch alone, a whole number of pages.
        values: a slot for each token (page size 1), or a block number for each page.
        users: locks that hold it.
        hits: inserts that went through it.
        priority: the highest of those inserts.
        created, last_used: ticks of the cache's logical clock.
        entry: rank under which the eviction queue has it, None if it does not.
    """

    __slots__ = (
        "children",
        "created",
        "edge",
        "entry",
        "hits",
        "id",
        "last_used",
        "parent",
        "place",
        "priority",
        "tokens",
        "users",
        "values",
    )

    def __init__(
        self, id: int, parent: "Node | None", edge: Hashable, tokens: array, values: array, now: int
    ) -> None:
        self.id = id
        self.parent = parent
        self.edge = edge
        self.children: dict[Hashable, Node] = {}
        self.place = id
        self.tokens = tokens
        self.values = values
        self.users = 0
        self.hits = 0
        self.priority = 0
        self.created = now
        self.last_used = now
        self.entry: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return f"<node {self.id}: {len(self.tokens)} tokens, {self.users} users, last used {self.last_used}>"


def descendants(root: Node) -> list[tuple[Node, int]]:
    """All nodes below `root` with the position at which their tokens begin; parents before children."""
    found = []
    todo = [(child, 0) for child in reversed(root.children.values())]
    while todo:
        node, start = todo.pop()
        found.append((node, start))
        after = start + len(node.tokens)
        todo += [(child, after) for child in reversed(node.children.values())]
    return found
