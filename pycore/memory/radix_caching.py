"""Paged memory that finds the beginning of a prompt in a radix tree: a block is a page of the tree.

r5 runs    ─▶ 3 ─▶ 9 ─▶ 4 ─▶ 6          3, 9, 4: r5's prompt, in the tree and locked
              └────┬────┘    │          6: r5's alone, until r5 is done and its output joins the tree
                 tree       r5
"""

from array import array
from collections.abc import Iterable
from collections.abc import Sequence as Series
from dataclasses import dataclass

from pycore.events import DuplicatesFreed, EventLog, NodeSplit, NullLog, PrefixCached
from pycore.memory.prefix_reuse import PrefixReusingAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.memory.tree_pool import TreePool
from pycore.prefix_cache.columns import NodeColumns
from pycore.prefix_cache.node import Node
from pycore.prefix_cache.prefix_cache import Match
from pycore.prefix_cache.prompt_key import PromptKey
from pycore.request import Sequence, Status

Told = list[tuple]  # events that are still to be told: class and fields


@dataclass(slots=True)
class _Path:
    """Where a sequence that holds blocks stands in the tree.

    Attributes:
        key: under what the tree finds it.
        end: the node that it has locked.
        joining: whether not all of its prompt is in the tree yet.
        counted: its tokens that are counted as hits of their nodes.
    """

    key: PromptKey
    end: Node
    joining: bool
    counted: int = 0


class RadixCachingAllocator(PrefixReusingAllocator):
    """A PagedAllocator that shares its pool with a radix tree (SGLang).

    A prompt joins the tree once its KV is there, in pieces if it is computed so; what was generated
    joins it when the sequence has finished, and never if it is preempted or dropped. Blocks that turn out to
    be there twice are given back. A running sequence locks the path that it holds.
    """

    def __init__(
        self,
        pool: TreePool,
        log: EventLog | NullLog,
        *,
        null_block: bool = False,
        swap_space: SwapSpace | None = None,
    ) -> None:
        """Takes a pool that nobody else uses; a block is a page of its tree.

        Args:
            pool, log, null_block, swap_space: see PagedAllocator.
        """
        super().__init__(pool, pool.tree.page_size, log, null_block=null_block, swap_space=swap_space)
        self.pool: TreePool = pool
        self._paths: dict[int, _Path] = {}

    def look_for(self, seq: Sequence) -> Match:
        """See PrefixReusingAllocator. A look counts as a use, as in SGLang."""
        key = self.prompt_key(seq)
        if key is None:
            return Match(0, self.pool.tree.root, array("q"))
        return self.pool.tree.match(key.tokens, key.namespace)

    def find(self, seq: Sequence) -> tuple[int, int]:
        """See PrefixReusingAllocator."""
        key = self.prompt_key(seq)
        if key is None:
            return 0, 0
        return self.pool.tree.peek(key.tokens[: seq.num_tokens - 1], key.namespace)

    def match_prefix(self, seq: Sequence) -> int:
        """See KVAllocator. The path that is found is locked."""
        key = self.prompt_key(seq)
        if key is None:
            return 0
        tree = self.pool.tree
        num_nodes = tree.num_nodes
        found = tree.match(key.tokens[: seq.num_tokens - 1], key.namespace)
        self._tell(self._split(seq, found.node, num_nodes))
        self._take_found(seq, found.values.tolist())
        tree.lock(found.node)
        self._paths[seq.id] = _Path(self._waiting.pop(seq.id), found.node, joining=True)
        return found.num_tokens

    def _split(self, seq: Sequence, upper: Node, num_nodes: int) -> Told:
        """The event of a split, if there are more nodes than `num_nodes` now; its upper half is `upper`."""
        if self.pool.tree.num_nodes <= num_nodes:
            return []
        lower = next(iter(upper.children.values()))
        return [(NodeSplit, seq.id, lower.id, upper.id, len(upper.tokens))]

    def _tell(self, told: Told) -> None:
        for event in told:
            self._log.emit(*event)

    def commit(self, seqs: Iterable[Sequence]) -> None:
        """See KVAllocator. What is computed of a prompt joins the tree."""
        seqs = list(seqs)
        super().commit(seqs)
        for seq in seqs:
            path = self._paths.get(seq.id)
            if path is not None and path.joining:
                self._join(seq, path)
                path.joining = seq.num_computed < seq.num_tokens

    def _join(self, seq: Sequence, path: _Path) -> None:
        """Puts all that is computed of a running sequence into the tree, and locks it there."""
        self.has_joined = True
        tree, table = self.pool.tree, self._tables[seq.id]
        node, told = self._insert(seq, path)
        self._tell(told)
        num_blocks = seq.num_computed // self.block_size
        if num_blocks > table.num_keyed:
            self._give_duplicates_back(seq, tree.values_of(node), num_blocks)
            table.num_keyed = num_blocks
        tree.lock(node)
        tree.unlock(path.end)
        path.end = node

    def _insert(self, seq: Sequence, path: _Path) -> tuple[Node, Told]:
        """Puts all that is computed of a sequence into the tree.

        Returns:
            The node where it ends, and the events that are to be told of it.
        """
        tree, table, key = self.pool.tree, self._tables[seq.id], path.key
        key.extend(seq.tokens)
        num_nodes = tree.num_nodes
        held, node = tree.insert(
            key.tokens[: seq.num_computed],
            table.blocks,
            -seq.request.priority,  # in the tree a higher number is more important
            key.namespace,
            path.counted,
        )
        path.counted = seq.num_computed
        added = table.blocks[held // self.block_size : seq.num_computed // self.block_size]
        if not added:
            return node, self._split(seq, node, num_nodes)
        self.pool.keep(added)
        cached = (PrefixCached, seq.id, tuple(added), node.id, node.parent.id, held)
        return node, [*self._split(seq, node.parent, num_nodes + 1), cached]

    def _give_duplicates_back(self, seq: Sequence, cached: array, num_blocks: int) -> None:
        """Lets a table that joined the tree have the tree's blocks where it has others of equal content."""
        table = self._tables[seq.id]
        places = [at for at in range(table.num_keyed, num_blocks) if table.blocks[at] != cached[at]]
        if not places:
            return
        duplicates = [table.blocks[at] for at in places]
        self.pool.share([cached[at] for at in places])
        for at in places:
            table.replace(at, cached[at])
        self.pool.free(duplicates)
        self._log.emit(DuplicatesFreed, seq.id, tuple(duplicates), self._num_unused)

    def prefix_nodes(self) -> NodeColumns:
        """See KVAllocator."""
        return self.pool.tree.nodes()

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """See KVAllocator."""
        super().fork(parent, child)
        key = self.prompt_key(child)
        if key is None:
            return
        tree = self.pool.tree
        table = self._tables[child.id]
        table.num_keyed = min(self._tables[parent.id].num_keyed, child.num_computed // self.block_size)
        num_nodes = tree.num_nodes
        end = tree.match(key.tokens[: table.num_keyed * self.block_size], key.namespace).node
        self._tell(self._split(child, end, num_nodes))
        tree.lock(end)
        self._paths[child.id] = _Path(
            self._waiting.pop(child.id), end, child.num_computed < child.num_tokens, child.num_computed
        )

    def free(self, seq: Sequence) -> None:
        """See KVAllocator. What a finished sequence computed joins the tree, that of others does not."""
        path = self._paths.pop(seq.id, None)
        told: Told = []
        if path is not None and seq.status is Status.FINISHED:
            _, told = self._insert(seq, path)
        super().free(seq)
        if path is not None:
            self.pool.tree.unlock(path.end)
        self._tell(told)
        if told:
            for other in seq.group:  # what it shared with them is in the tree now, and theirs to lock
                if other.id in self._paths:
                    self._join(other, self._paths[other.id])

    def swap_out(self, group: Series[Sequence]) -> int:
        """See KVAllocator. What of it is in the tree stays cached there."""
        moved = super().swap_out(group)
        if moved:
            for seq in group:
                if seq.id in self._paths:
                    self.pool.tree.unlock(self._paths.pop(seq.id).end)
        return moved

    def swap_in(self, group: Series[Sequence]) -> int:
        """See KVAllocator. What comes back is in blocks of its own, and in the tree once it has finished."""
        moved = super().swap_in(group)
        for seq in group:
            if self.prompt_key(seq) is not None:
                self._paths[seq.id] = _Path(self._waiting.pop(seq.id), self.pool.tree.root, joining=False)
        return moved

    def _evicted_nodes(self) -> tuple[int, ...]:
        nodes = tuple(self.pool.evicted_nodes)
        self.pool.evicted_nodes.clear()
        return nodes

    def check(self) -> None:
        """See KVAllocator: also, each running sequence has locked what it holds of the tree, and no more."""
        super().check()
        tree = self.pool.tree
        users: dict[int, int] = {}
        for seq_id, path in self._paths.items():
            table, held, node = self._tables[seq_id], list(tree.values_of(path.end)), path.end
            assert len(held) == table.num_keyed, f"r{seq_id} has locked {held}, not {table.num_keyed} blocks"
            assert table.blocks[: len(held)] == held, f"r{seq_id} has locked {held}, and holds {table.blocks}"
            while node.parent is not None:
                users[node.id] = users.get(node.id, 0) + 1
                node = node.parent
        nodes = tree.nodes()
        for id, count in zip(nodes.id, nodes.users, strict=True):
            assert users.get(id, 0) == count, f"node {id} has {count} users, {users.get(id, 0)} sequences"
