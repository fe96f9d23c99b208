"""What a prefix cache knew in each frame, as columns to draw; the format is told in docs/architecture.md."""

from itertools import accumulate

from pycore.events import PrefixHit
from pycore.prefix_cache.columns import NodeColumns
from pycore.snapshot import Snapshot


def prefix_columns(frames: tuple[Snapshot, ...]) -> tuple[dict[str, list[int]], dict[str, dict[str, list]]]:
    """Columns of `frames`, and the lists `nodes` and `trees`; none without a cache.

    A tree stands once in `trees` for all the frames in a row that show it, and a stretch once in `nodes` for
    all trees that have it: most steps change few of them.
    """
    if frames[0].prefixes is None:
        return {}, {}
    writer = _Writer()
    versions = [writer.add(frame.step, frame.prefixes) for frame in frames]
    found = [
        sum(event.num_tokens for event in frame.events if isinstance(event, PrefixHit)) for frame in frames
    ]
    return {"tree": versions, "found": list(accumulate(found))}, writer.columns()


class _Writer:
    """Trees, frame after frame."""

    def __init__(self) -> None:
        self._nodes: dict[tuple, int] = {}  # stretch → its number in the columns
        self._starts = [0]
        self._node: list[int] = []
        self._users: list[int] = []
        self._used: list[int] = []
        self._before: NodeColumns | None = None
        self._last: dict[int, tuple[int, int, int]] = {}  # node → (users, tick of its last use, frame of it)

    def add(self, step: int, tree: NodeColumns) -> int:
        """The number of the tree of a frame, which is added unless it is that of the frame before."""
        if tree is self._before or tree == self._before:
            return len(self._starts) - 2
        self._before = tree
        last, order = {}, zip(tree.id, tree.parent, tree.start, tree.length, tree.values, strict=True)
        for row, users, tick in zip(order, tree.users, tree.last_used, strict=True):
            before = self._last.get(row[0])
            # Whoever lets go of a node has used it until now, as does whoever takes it.
            used = before[2] if before is not None and before[:2] == (users, tick) else step
            last[row[0]] = users, tick, used
            self._node.append(self._nodes.setdefault(row, len(self._nodes)))
            self._users.append(users)
            self._used.append(used)
        self._last = last
        self._starts.append(len(self._node))
        return len(self._starts) - 2

    def columns(self) -> dict[str, dict[str, list]]:
        """The lists."""
        names = ("id", "parent", "start", "length", "blocks")
        nodes = {name: [row[i] for row in self._nodes] for i, name in enumerate(names)}
        nodes["blocks"] = list(map(list, nodes["blocks"]))
        trees = {"start": self._starts, "node": self._node, "users": self._users, "used": self._used}
        return {"nodes": nodes, "trees": trees}
