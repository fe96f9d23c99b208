"""What a prefix cache holds as columns, for pictures: they get columns and never a tree or a chain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pycore.prefix_cache.node import Node, descendants

LOST = -1  # in place of a parent's number: it is no longer cached, so what came after it cannot be found


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """All nodes but the root, parents before children, as columns to draw the tree from.

    Attributes:
        id, parent: node numbers; 0 is the root, LOST what a hash chain has lost.
        start, length: where its stretch begins in a prompt, and how long it is, in tokens.
        users, hits, priority, last_used: see Node.
        values: slots or blocks; see ChainHistory for those of a hash chain.
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


def as_columns(rows: Iterable[Sequence]) -> NodeColumns:
    """Rows with the entries of a node in the order of NodeColumns, its values as any sequence, as columns."""
    rows = [(*row[:-1], tuple(row[-1])) for row in rows]
    return NodeColumns(*(zip(*rows, strict=True) if rows else [()] * 9))


def node_columns(root: Node) -> NodeColumns:
    """The columns of the tree below `root`."""
    return as_columns(
        (
            node.id,
            node.parent.id,
            start,
            len(node.tokens),
            node.users,
            node.hits,
            node.priority,
            node.last_used,
            node.values,
        )
        for node, start in descendants(root)
    )
