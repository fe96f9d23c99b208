"""The protocol of a prefix cache: what is cached of a prompt, and what may be given up.

A cache keeps the numbers of slots (or of blocks) whose KV it knows, and who must not lose them. It never
allocates: whoever inserts has the slots from the pool, and gives those that `evict` returns back to it.
"""

from array import array
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

Tokens = Sequence[int]


class Match(NamedTuple):
    """The longest cached prefix of a prompt.

    Attributes:
        num_tokens: how many tokens of it are cached, whole pages only.
        node: where it ends, to be locked; of no further meaning to the caller.
        values: a slot for each of these tokens (page size 1), or a block number for each page.
    """

    num_tokens: int
    node: object
    values: array


class Found(NamedTuple):
    """What a look at the cache, which is no use of it, finds of a prompt.

    Attributes:
        num_tokens: how many tokens of it are cached, whole pages only.
        num_unused: of these, how many nobody has locked.
    """

    num_tokens: int
    num_unused: int


class Inserted(NamedTuple):
    """What became of a prompt that was put into the cache.

    Attributes:
        num_held: leading tokens that were cached before: the caller keeps its own slots for them.
        node: where the prompt ends.
    """

    num_held: int
    node: object


class Evicted(NamedTuple):
    """One leaf that was given up.

    Attributes:
        id: of the node.
        tokens: it stood for, without those of its ancestors.
        values: slots or blocks that the caller may free now.
    """

    id: int
    tokens: array
    values: array


class PrefixCache(Protocol):
    """Prompts in, cached prefixes out.

    Attributes:
        page_size: tokens a page; only whole pages are cached.
        evictable: cached tokens that nobody uses.
        protected: cached tokens that somebody has locked.
    """

    page_size: int
    evictable: int
    protected: int

    def match(self, tokens: Tokens, namespace: Hashable = None) -> Match:
        """The longest cached prefix of `tokens`; counts as a use of it."""

    def peek(self, tokens: Tokens, namespace: Hashable = None) -> Found:
        """How much of `tokens` is cached. Pure."""

    def insert(
        self, tokens: Tokens, values: Sequence[int], priority: int = 0, namespace: Hashable = None
    ) -> Inserted:
        """Caches the whole pages of `tokens`, whose KV lies in `values`."""

    def lock(self, node: object) -> int:
        """Keeps the prefix that ends at `node` from eviction; returns the tokens that were evictable."""

    def unlock(self, node: object) -> int:
        """Takes back one `lock`; returns the tokens that are evictable now."""

    def evict(self, num_tokens: int) -> list[Evicted]:
        """Gives up whole leaves that nobody uses until `num_tokens` tokens are gone, or none are left."""

    def check(self) -> None:
        """Raises AssertionError with the broken state if an invariant does not hold."""
