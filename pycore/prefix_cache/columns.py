"""A radix tree as columns, for pictures: they get columns and never a tree."""

from dataclasses import dataclass

from pycore.prefix_cache.node import Node, descendants


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """All nodes but the root, parents before children, as columns to draw the tree from.

    Attributes:
        id, parent: node numbers; 0 is the root.
        start, length: where its stretch begins in a prompt, and how long it is, in tokens.
        users, hits, priority, last_used: see Node.
        values: slots or blocks.
    """

    id: tuple[int, ...]
    parent: tuple[int, ...]
    start: tuple[int, ...]
    length: tuple[int, ...]
    users: tuple[int, ...]
    hits: tuple[int, ...]
    priority: tuple[int, ...]
    last_used: tuple[int, ...]
    values: tuple[tuple[int, ...], ...]


def node_columns(root: Node) -> NodeColumns:
    """The columns of the tree below `root`."""
    rows = [
        (
            node.id,
            node.parent.id,
            start,
            len(node.tokens),
            node.users,
            node.hits,
            node.priority,
            node.last_used,
            tuple(node.values),
        )
        for node, start in descendants(root)
    ]
    return NodeColumns(*(zip(*rows, strict=True) if rows else [()] * 9))
