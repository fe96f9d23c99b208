"""A node of a radix tree: a stretch of tokens, and where their KV lies."""

from array import array
from collections.abc import Hashable, Sequence

from pycore.prompt import packed


def as_tokens(tokens: Sequence[int]) -> array:
    """The token ids as the tree stores them; an array of this kind is taken as it is, and must not change."""
    return tokens if type(tokens) is array and tokens.typecode == "q" else packed(tokens)


def num_shared(stretch: array, tokens: array, at: int, end: int) -> int:
    """Leading tokens that `stretch` and `tokens[at:end]` have in common, of which there is at least one.

    Compares slices, which is a loop in C, and halves the slice that differs.
    """
    n = min(len(stretch), end - at)
    if tokens[at : at + n] == (stretch if n == len(stretch) else stretch[:n]):
        return n
    same, different = 0, n  # the first `same` tokens agree, the first `different` do not
    while different - same > 1:
        middle = (same + different) // 2
        if stretch[same:middle] == tokens[at + same : at + middle]:
            same = middle
        else:
            different = middle
    return same


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


def check_nodes(root: Node, page_size: int, now: int) -> tuple[int, int, int, list[Node]]:
    """Raises AssertionError with the broken node unless each is in its place and of whole pages.

    Args:
        root: of the tree.
        page_size: tokens a page.
        now: the cache's clock.

    Returns:
        Tokens that nobody uses and that somebody does, the number of nodes, and the leaves that may go.
    """
    evictable, protected, leaves = 0, 0, []
    found = descendants(root)
    for node, start in found:
        size = len(node.tokens)
        assert size > 0, f"{node} stands for nothing"
        assert size % page_size == 0, f"{node} is not a whole number of pages of {page_size}"
        assert len(node.values) * page_size == size, f"{node} has {len(node.values)} values"
        assert node.parent.children[node.edge] is node, f"{node} is not where its parent looks for it"
        first = node.tokens[0] if page_size == 1 else tuple(node.tokens[:page_size])
        assert node.edge == first or (start == 0 and node.edge[1] == first), f"{node}: edge {node.edge}"
        below = list(node.children.values())
        assert node.users >= sum(child.users for child in below), f"{node} above {below}"
        assert [child.place for child in below] == sorted(child.place for child in below), below
        if node.users:
            protected += size
        else:
            evictable += size
            leaves += [] if below else [node]
        assert node.last_used <= now, f"{node} was used in the future"
    return evictable, protected, len(found), leaves
