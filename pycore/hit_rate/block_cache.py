"""Caches of the blocks of a trace: BLOCK_CACHES, by policy.

Each is asked for one request after the other, and keeps the blocks of each. How it makes room is its policy.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

from pycore.hit_rate.prefix_trie import PrefixTrie
from pycore.prefix_cache.eviction import EVICTION, EvictionQueue, Policy, Rank


class _Block:
    """A cached block: what the policies look at, as a radix tree's node has it."""

    __slots__ = ("children", "created", "entry", "hits", "id", "last_used", "next_use", "parent", "users")

    def __init__(self, id: int, parent: "_Block | None", now: int, next_use: int) -> None:
        self.id = id
        self.parent = parent
        self.children = 0
        self.users = 0
        self.hits = 1
        self.created = self.last_used = now
        self.next_use = next_use
        self.entry: Rank | None = None


class BlockCache(Protocol):
    """A cache of `capacity` blocks."""

    def serve(self, request: int) -> int:
        """How many blocks of the request were cached, from its beginning on; all of them are cached now."""


class LeafCache:
    """A tree of blocks that gives up leaves, so that what is cached is always within reach.

    A request never gives up its own blocks for those behind them. If a prompt is larger than the cache, the
    block that finds no room takes that of the one before it, on which it stands, so neither is kept: as
    kvcache-simulator has it, of which these figures are equal to the token.
    """

    def __init__(self, trie: PrefixTrie, capacity: int, policy: Policy, *, may_refuse: bool = False) -> None:
        """An empty cache.

        Args:
            trie: the prompts.
            capacity: blocks, at least 1.
            policy: the leaf of the lowest rank goes first.
            may_refuse: a block that is wanted no sooner than the leaf that would go for it is not cached.
        """
        self._trie = trie
        self._capacity = capacity
        self._may_refuse = may_refuse
        self._root = _Block(0, None, 0, 0)
        self._cached: list[_Block | None] = [None] * (trie.num_nodes + 1)
        self._size = 0
        self._leaves = EvictionQueue(policy)

    def serve(self, request: int) -> int:
        """See BlockCache."""
        trie, cached = self._trie, self._cached
        start, end = trie.starts[request], trie.starts[request + 1]
        nodes, next_uses = trie.nodes[start:end], trie.next_uses[start:end]
        last, found = self._root, 0
        for node in nodes:
            block = cached[node]
            if block is None:
                break
            block.last_used = request
            block.hits += 1
            block.next_use = next_uses[found]
            found += 1
            last = block
        end_of_hit = last
        end_of_hit.users += 1
        for node, next_use in zip(nodes[found:], next_uses[found:], strict=True):
            if self._size == self._capacity and not self._give_up_a_leaf(next_use):
                if last is not end_of_hit and not self._may_refuse:
                    last = self._drop(last)
                break
            last.children += 1
            last = cached[node] = _Block(node, last, request, next_use)
            self._size += 1
        end_of_hit.users -= 1
        if not last.children and last is not self._root:
            self._leaves.put(last)
        return found

    def _give_up_a_leaf(self, next_use: int) -> bool:
        """Makes room for a block that is wanted next at `next_use`; False if no leaf may go for it."""
        leaf = self._leaves.pop()
        if leaf is None:
            return False
        if self._may_refuse and leaf.next_use <= next_use:
            self._leaves.put(leaf)
            return False
        parent = self._drop(leaf)
        if not parent.children and parent is not self._root:
            self._leaves.put(parent)
        return True

    def _drop(self, leaf: _Block) -> _Block:
        """Takes out a leaf; returns its parent."""
        self._cached[leaf.id] = None
        self._size -= 1
        leaf.parent.children -= 1
        return leaf.parent

    def check(self) -> None:
        """Raises AssertionError unless what is cached is a tree, within the capacity, whose leaves may go."""
        blocks = [block for block in self._cached if block is not None]
        assert len(blocks) == self._size <= self._capacity, f"{len(blocks)} blocks, not {self._size}"
        for block in blocks:
            parent = block.parent
            assert parent is self._root or self._cached[parent.id] is parent, f"{block.id} hangs in the air"
        counted = sum(block.children for block in [self._root, *blocks])
        assert counted == len(blocks), f"{counted} children of {len(blocks)} blocks"
        self._leaves.check([block for block in blocks if not block.children])


class LruCache:
    """The same as a LeafCache that gives up the least recently used leaf, several times as fast.

    A path counts as used from its end to its beginning. A block is then never older than those that stand on
    it, so that the oldest of all blocks is a leaf, and one list in order of use does without a heap.
    """

    def __init__(self, trie: PrefixTrie, capacity: int) -> None:
        """An empty cache of `capacity` blocks, at least 1."""
        self._trie = trie
        self._capacity = capacity
        self._cached: OrderedDict[int, None] = OrderedDict()  # the least recently used first

    def serve(self, request: int) -> int:
        """See BlockCache."""
        trie, cached = self._trie, self._cached
        nodes = trie.nodes[trie.starts[request] : trie.starts[request + 1]]
        found = next((i for i, node in enumerate(nodes) if node not in cached), len(nodes))
        if len(nodes) > self._capacity:
            if found < self._capacity:
                cached.clear()
                cached.update(dict.fromkeys(reversed(nodes[: self._capacity - 1])))  # see LeafCache
            return found
        hit, new = nodes[:found][::-1], nodes[found:][::-1]
        for node in hit:  # out of the way of what goes now
            cached.move_to_end(node)
        for _ in range(len(cached) + len(new) - self._capacity):
            cached.popitem(last=False)
        for node in new:  # quicker than OrderedDict.update
            cached[node] = None
        for node in hit:
            cached.move_to_end(node)
        return found


class BlockQueue:
    """Gives up blocks in the order in which they came, wherever in a chain they are.

    The beginning of a chain comes first, so it goes first, and what is left of the chain is out of reach:
    that is what tells this from a LeafCache that gives up its oldest leaf.
    """

    def __init__(self, trie: PrefixTrie, capacity: int) -> None:
        """An empty cache of `capacity` blocks, at least 1."""
        self._trie = trie
        self._capacity = capacity
        self._cached = bytearray(trie.num_nodes + 1)
        self._queue: deque[int] = deque()

    def serve(self, request: int) -> int:
        """See BlockCache."""
        trie, cached, queue = self._trie, self._cached, self._queue
        nodes = trie.nodes[trie.starts[request] : trie.starts[request + 1]]
        found = next((i for i, node in enumerate(nodes) if not cached[node]), len(nodes))
        for node in nodes[found:]:
            if not cached[node]:
                if len(queue) == self._capacity:
                    cached[queue.popleft()] = 0
                cached[node] = 1
                queue.append(node)
        return found


class Unbounded:
    """Keeps everything: no policy hits more."""

    def __init__(self, trie: PrefixTrie) -> None:
        self._trie = trie
        self._seen = 0

    def serve(self, request: int) -> int:
        """See BlockCache."""
        trie = self._trie
        nodes = trie.nodes[trie.starts[request] : trie.starts[request + 1]]
        found = next((i for i, node in enumerate(nodes) if node > self._seen), len(nodes))
        if found < len(nodes):
            self._seen = max(self._seen, nodes[-1])
        return found


def furthest_next_use(block: _Block) -> Rank:
    """The one that is wanted again last or never (Bélády): it takes a look into the future."""
    return (-block.next_use,)


# A cache of so many blocks over a trie. The policies of the radix tree, by their names there, but for fifo:
# SGLang's gives up the oldest leaf, a plain queue the oldest block.
BLOCK_CACHES: dict[str, Callable[[PrefixTrie, int], BlockCache]] = {
    "lru": LruCache,
    "fifo": BlockQueue,
    "leaf_fifo": partial(LeafCache, policy=EVICTION["fifo"]),
    "lfu": partial(LeafCache, policy=EVICTION["lfu"]),
    "slru": partial(LeafCache, policy=EVICTION["slru"]),
    "mru": partial(LeafCache, policy=EVICTION["mru"]),
    "filo": partial(LeafCache, policy=EVICTION["filo"]),
    "optimal": partial(LeafCache, policy=furthest_next_use, may_refuse=True),
}
