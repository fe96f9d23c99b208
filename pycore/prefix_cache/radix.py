"""A radix tree over token ids: the prefix cache that reuses KV to the token (RadixAttention).

                        root
              ┌───────────┴───────────┐
       [5 6 7 … 600 tokens]     [9 9 9]             a node is a stretch of tokens and their slots
         ┌────┴────┐
      [1 2 3]   [8 4]                               two prompts that part in the middle of a stretch split it

Only leaves that nobody uses are given up, each whole; a parent that loses its last child is a leaf in turn.
"""

from array import array
from collections.abc import Hashable, Sequence

from pycore.prefix_cache.columns import NodeColumns, node_columns
from pycore.prefix_cache.eviction import EVICTION, EvictionQueue, Policy, eviction_order
from pycore.prefix_cache.node import Node, as_tokens, check_nodes, descendants, num_shared
from pycore.prefix_cache.prefix_cache import Evicted, Found, Inserted, Match, Tokens
from pycore.prefix_cache.rules import SGLANG, RadixRules


class RadixCache:
    """Cached prefixes as a radix tree. Implements PrefixCache.

    Time is a logical clock: it ticks at every match and insert and at every node that is made, so that two
    leaves are never equally old.

    Attributes:
        page_size: tokens a page.
        evictable, protected: cached tokens that nobody uses, and that somebody has locked.
        num_nodes: without the root.

    >>> cache = RadixCache()
    >>> for prompt in ([0, 1, 2, 3], [0, 1, 2, 3, 4], [9, 9, 9]):
    ...     held = cache.insert(prompt, values=prompt).num_held
    >>> cache.match([0, 1, 2, 3, 4, 5]).num_tokens, cache.match([7, 6, 5]).num_tokens
    (5, 0)
    >>> [list(leaf.tokens) for leaf in cache.evict(4)]  # least recently used first, whole leaves
    [[9, 9, 9], [4]]
    """

    def __init__(
        self, page_size: int = 1, policy: Policy = EVICTION["lru"], rules: RadixRules = SGLANG
    ) -> None:
        """An empty tree.

        Args:
            page_size: tokens a page; stretches part at whole pages only.
            policy: one of EVICTION.
            rules: whose tree it is.

        Raises:
            ValueError: a page without tokens.
        """
        if page_size < 1:
            raise ValueError(f"a page holds at least 1 token, not {page_size}")
        self.page_size = page_size
        self.evictable = 0
        self.protected = 0
        self.num_nodes = 0
        self._rules = rules
        self._leaves = EvictionQueue(policy)
        self._clock = 0
        self._last_id = 0
        self.root = Node(0, None, None, array("q"), array("q"), 0)
        self.root.users = 1  # never evicted

    @property
    def total(self) -> int:
        """Cached tokens."""
        return self.evictable + self.protected

    def match(self, tokens: Tokens, namespace: Hashable = None) -> Match:
        """See PrefixCache. A match that ends inside a stretch splits it.

        O(length of the prompt + number of nodes on the path).

        Args:
            tokens: the prompt; its last, partial page is not looked up.
            namespace: prompts of different namespaces (an adapter, a salt) share nothing.
        """
        values = array("q")
        node, at, _, last = self._walk(as_tokens(tokens), namespace, values, None)
        if last is not None and not last.children and not last.users:
            self._leaves.put(last)
        return Match(at, node, values)

    def peek(self, tokens: Tokens, namespace: Hashable = None) -> Found:
        """See PrefixCache. What `match` would find; the tree stays as it is."""
        tokens, page = as_tokens(tokens), self.page_size
        end = len(tokens) - len(tokens) % page
        node, at, unused = self.root, 0, 0
        while at < end:
            child = node.children.get(self._edge(tokens, at, namespace))
            if child is None:
                break
            n = num_shared(child.tokens, tokens, at, end)
            n -= n % page
            at += n
            if not child.users:
                unused += n
            if n < len(child.tokens):
                break
            node = child
        return Found(at, unused)

    def _edge(self, tokens: array, at: int, namespace: Hashable) -> Hashable:
        """Under what the stretch that begins at `tokens[at]` is found."""
        page = self.page_size
        edge = tokens[at] if page == 1 else tuple(tokens[at : at + page])
        return edge if at or namespace is None else (namespace, edge)

    def insert(
        self,
        tokens: Tokens,
        values: Sequence[int],
        priority: int = 0,
        namespace: Hashable = None,
        counted: int = 0,
    ) -> Inserted:
        """See PrefixCache.

        Args:
            tokens: the prompt; its last, partial page is not cached.
            values: a slot for each token, or a block number for each whole page; more are not looked at.
            priority: raises that of all nodes on the path.
            namespace: see `match`.
            counted: leading tokens that an insert for the same request has counted as a hit before.

        Raises:
            ValueError: too few values (then nothing changed).
        """
        tokens = as_tokens(tokens)
        page = self.page_size
        end = len(tokens) - len(tokens) % page
        if len(values) * page < end:
            raise ValueError(f"{end // page} values are needed for {len(tokens)} tokens, not {len(values)}")
        node, held, edge, last = self._walk(tokens, namespace, None, priority, counted)
        if last is not None and not last.children and not last.users:
            self._leaves.put(last)
        if held < end:
            part = array("q", values[held // page : end // page])
            node = self._new_node(node, edge, tokens[held:end], part)
            node.hits = int(end > counted)
            node.priority = priority
            self.evictable += end - held
            self._leaves.put(node)
        return Inserted(held, node)

    def _walk(
        self,
        tokens: array,
        namespace: Hashable,
        values: array | None,
        priority: int | None,
        counted: int = 0,
    ) -> tuple[Node, int, Hashable, Node | None]:
        """Follows `tokens` down the tree and marks the path as used.

        Args:
            tokens: the prompt.
            namespace: see `match`.
            values: those of the path are added to it, unless it is None.
            priority: of an insert, which counts as a hit of every node; None for a match.
            counted: of an insert: nodes that end within so many tokens are not counted again.

        Returns:
            The node where the cached prefix ends, its length, the edge that would lead on from there, and
            the lowest node that was used, if any: the other half where a stretch was split.
        """
        page = self.page_size
        end = len(tokens) - len(tokens) % page
        self._clock = now = self._clock + 1
        node, at, last, edge = self.root, 0, None, None
        while at < end:
            edge = self._edge(tokens, at, namespace)
            child = node.children.get(edge)
            if child is None:
                break
            n = num_shared(child.tokens, tokens, at, end)
            if n == len(child.tokens):
                child.last_used = now
                last = node = child
            else:
                n -= n % page
                if self._rules.split_is_use:
                    child.last_used = now
                last = child
                node = self._split(child, n)
            at += n
            if values is not None:
                values += node.values
            if priority is not None:
                if at > counted:
                    node.hits += 1
                if node.priority < priority:
                    node.priority = priority
        return node, at, edge, last

    def _new_node(self, parent: Node, edge: Hashable, tokens: array, values: array) -> Node:
        self._clock += 1
        self._last_id += 1
        self.num_nodes += 1
        node = parent.children[edge] = Node(self._last_id, parent, edge, tokens, values, self._clock)
        return node

    def _split(self, child: Node, n: int) -> Node:
        """Puts a node for the first `n` tokens of `child` above it, with as many users and hits."""
        tokens, values, page = child.tokens, child.values, self.page_size
        upper = self._new_node(child.parent, child.edge, tokens[:n], values[: n // page])
        upper.place = child.place
        upper.users = child.users
        upper.hits = child.hits
        upper.priority = child.priority
        if not self._rules.split_is_use:
            upper.last_used = child.last_used
        child.tokens = tokens[n:]
        child.values = values[n // page :]
        child.parent = upper
        child.edge = tokens[n] if page == 1 else tuple(tokens[n : n + page])
        upper.children[child.edge] = child
        return upper

    def lock(self, node: Node) -> int:
        """See PrefixCache. Counts one user more on every node up to the root.

        Raises:
            ValueError: the node was evicted.
        """
        self._require_cached(node)
        newly = 0
        while node.parent is not None:
            if not node.users:
                newly += len(node.tokens)
            node.users += 1
            node = node.parent
        self.evictable -= newly
        self.protected += newly
        return newly

    def unlock(self, node: Node) -> int:
        """See PrefixCache.

        Raises:
            ValueError: the node was evicted, or nobody has locked it (then nothing changed).
        """
        self._require_cached(node)
        if not node.users:
            raise ValueError(f"cannot unlock {node}: nobody has locked it")
        newly = 0
        leaf = node
        while node.parent is not None:
            node.users -= 1
            if not node.users:
                newly += len(node.tokens)
            node = node.parent
        if leaf.parent is not None and not leaf.children and not leaf.users:
            self._leaves.put(leaf)
        self.evictable += newly
        self.protected -= newly
        return newly

    def _require_cached(self, node: Node) -> None:
        if node.parent is None and node is not self.root:
            raise ValueError(f"{node} is no longer cached")

    def evict(self, num_tokens: int) -> list[Evicted]:
        """See PrefixCache. Never half a leaf, so that more tokens may go than were asked for.

        O(log of the number of leaves) for each leaf that goes, spread over the uses before.

        Raises:
            ValueError: more than `evictable`, if the rules refuse that (then nothing changed).
        """
        if num_tokens > self.evictable and not self._rules.partial_eviction:
            raise ValueError(f"cannot evict {num_tokens} tokens: only {self.evictable} are evictable")
        gone, freed = [], 0
        while freed < num_tokens and (leaf := self._leaves.pop()) is not None:
            parent = leaf.parent
            del parent.children[leaf.edge]
            leaf.parent = None
            freed += len(leaf.tokens)
            gone.append(Evicted(leaf.id, leaf.tokens, leaf.values))
            if not parent.children and not parent.users:
                self._leaves.put(parent)
        self.evictable -= freed
        self.num_nodes -= len(gone)
        return gone

    def values_of(self, node: Node) -> array:
        """The values of the whole prefix that ends at `node`."""
        path = []
        while node.parent is not None:
            path.append(node.values)
            node = node.parent
        values = array("q")
        for part in reversed(path):
            values += part
        return values

    def in_order_of_eviction(self) -> list[Node]:
        """All nodes that nobody uses, as they would go if nothing were used meanwhile. Visits all nodes."""
        return eviction_order((node for node, _ in descendants(self.root)), self._leaves.policy)

    def nodes(self) -> NodeColumns:
        """The tree as columns to draw it from, read only."""
        return node_columns(self.root)

    def check(self) -> None:
        """See PrefixCache."""
        evictable, protected, num_nodes, leaves = check_nodes(self.root, self.page_size, self._clock)
        assert num_nodes == self.num_nodes, f"{num_nodes} nodes, not {self.num_nodes}"
        sizes = (evictable, protected)
        assert sizes == (self.evictable, self.protected), f"{sizes} tokens evictable and protected"
        self._leaves.check(leaves)
