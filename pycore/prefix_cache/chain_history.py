"""What a picture of a hash chain needs and the chain itself does not: how keys hang together, and their use.

A chain knows keys one by one. As columns of the same shape as a radix tree's, with a node for each key, one
picture draws both kinds of cache.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pycore.prefix_cache.columns import LOST, NodeColumns, as_columns
from pycore.prefix_cache.hash_chain import HashChain


@dataclass(slots=True)
class _Link:
    """A key: its number in order of arrival, the key before it, its place in a prompt in blocks, its use."""

    number: int
    parent: bytes | None
    at: int
    last_used: int
    hits: int = 0


class ChainHistory:
    """Notes which keys were stored and found; kept only where somebody looks at it.

    Time is a logical clock that ticks at every note. A key that was lost and comes back is a new node.
    """

    def __init__(self) -> None:
        """Nothing was stored."""
        self._links: dict[bytes, _Link] = {}
        self._num_links = 0
        self._clock = 0

    def stored(self, keys: Sequence[bytes], first: int) -> None:
        """The keys of a prompt from position `first` on, in blocks, are cached now."""
        self._clock += 1
        for at in range(first, len(keys)):
            link = self._links.get(keys[at])
            if link is None:
                self._num_links += 1
                parent = keys[at - 1] if at else None
                self._links[keys[at]] = _Link(self._num_links, parent, at, self._clock)
            else:
                link.last_used = self._clock

    def found(self, keys: Sequence[bytes]) -> None:
        """The keys were looked up, and a sequence holds their blocks now too."""
        self._clock += 1
        for key in keys:
            link = self._links[key]
            link.hits += 1
            link.last_used = self._clock

    def columns(self, chain: HashChain, users: Callable[[int], int]) -> NodeColumns:
        """The cached keys as columns to draw them from; forgets those that are not cached any more.

        Args:
            chain: the keys.
            users: how many hold a block.

        Returns:
            Columns in which the values of a node are all blocks of its content, the one that is found first.
        """
        cached = set(chain.keys.values())  # only looked into, so that its order does not matter
        self._links = links = {key: link for key, link in self._links.items() if key in cached}
        rows = []
        for key, link in sorted(links.items(), key=lambda item: (item[1].at, item[1].number)):
            before = links.get(link.parent)
            parent = before.number if before else LOST if link.at else 0
            blocks, size = chain.blocks_of(key), chain.block_size
            held = sum(map(users, blocks))
            rows.append(
                (link.number, parent, link.at * size, size, held, link.hits, 0, link.last_used, blocks)
            )
        return as_columns(rows)
