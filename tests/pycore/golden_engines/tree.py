"""The tree of a RadixCache in the form in which the cases write it."""

from pycore.prefix_cache.node import Node
from pycore.prefix_cache.radix import RadixCache


def drawn(cache: RadixCache, users: str, hits: bool) -> list[dict]:
    """Nested nodes; `users` is the case's word for the lock count, `hits` whether it tells hits."""

    def below(node: Node) -> list[dict]:
        return [
            {
                "key": list(child.tokens),
                users: child.users,
                **({"hits": child.hits} if hits else {}),
                "children": below(child),
            }
            for child in node.children.values()
        ]

    return in_order(below(cache.root))


def in_order(tree: list[dict]) -> list[dict]:
    """The same tree with siblings in the order of their keys."""
    nodes = [{**node, "children": in_order(node["children"])} for node in tree]
    return sorted(nodes, key=lambda node: node["key"])
