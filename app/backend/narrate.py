"""Events → sentences: one line of the log for each thing that happened, in every language."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from app.backend.texts import sentences
from pycore import events as ev
from pycore.named_tuples import of_fields

# What the scheduler did and what memory did, told in one sentence where the one follows the other.
_MEMORY_FIRST = frozenset(product((ev.BlocksAllocated, ev.RegionReserved), (ev.Admitted, ev.Recovered)))
_MEMORY_SECOND = frozenset(product((ev.Finished, ev.Preempted, ev.Dropped), (ev.BlocksFreed, ev.RegionFreed)))
# Nodes of a radix tree that an event is about.
_NODES: dict[type, Callable[[ev.Event], tuple[int, ...]]] = {
    ev.BlocksEvicted: lambda event: event.nodes,
    ev.PrefixCached: lambda event: (event.node,),
    ev.NodeSplit: lambda event: (event.node, event.upper),
}


class Line(NamedTuple):
    """One sentence of the log.

    Attributes:
        kind: name of the event's class; what the mark on the time line shows.
        seq: id of the sequence it is about.
        blocks: physical blocks it names.
        nodes: nodes of a radix tree that it names.
        sentences: by language.
    """

    kind: str
    seq: int
    blocks: tuple[int, ...]
    nodes: tuple[int, ...]
    sentences: dict[str, str]


class Narrator:
    """Tells a run, step after step; remembers what sequences are called."""

    def __init__(self, block_size: int, paged: bool) -> None:
        """A narrator before the first step.

        Args:
            block_size: slots a block: slots are told as blocks where memory is paged.
            paged: which allocator it is.
        """
        self._unit = block_size if paged else 1
        self._mode = "paged" if paged else "contiguous"
        self._forked: dict[int, str] = {}
        self._called: dict[tuple[int, ...], dict[str, dict[str, str]]] = {}  # blocks → the words for them

    def name(self, seq: int) -> str:
        """How a sequence is shown: `r5`, or `r5.2` for a further sequence of r5."""
        return self._forked.get(seq, f"r{seq}")

    def lines(self, events: tuple[ev.Event, ...]) -> Iterator[Line]:
        """The log lines of one step, in order."""
        following = iter(events)
        first = next(following, None)
        while first is not None:
            second = next(following, None)
            if type(first) is ev.Forked:
                self._forked[first.seq] = first.name
            pair = _pair(first, second)
            if pair is None:
                yield self._line(first, None)
                first = second
            else:
                yield self._line(*pair)
                first = next(following, None)

    def _line(self, event: ev.Event, memory: ev.Event | None) -> Line:
        key, fields = self._key_and_fields(event, memory)
        fields["seq"] = self.name(event.seq)
        blocks = getattr(memory or event, "blocks", None)
        if blocks is None:
            blocks = (event.source, event.block) if type(event) is ev.BlockCopied else ()
            said = sentences(key, fields)
        else:
            said = sentences(key, fields, self._places(blocks))
        kind = type(event)
        nodes = _NODES[kind](event) if kind in _NODES else ()
        return of_fields(Line, (kind.__name__, event.seq, blocks, nodes, said))

    def _places(self, blocks: tuple[int, ...]) -> dict[str, dict[str, str]]:
        """What blocks are called, as a field by language."""
        called = self._called.get(blocks)
        if called is None:
            number = "none" if not blocks else "one" if len(blocks) == 1 else "many"
            said = sentences(f"event.places.{number}", {"blocks": ", ".join(map(str, blocks))})
            called = self._called[blocks] = {lang: {"places": words} for lang, words in said.items()}
        return called

    def _key_and_fields(self, event: ev.Event, memory: ev.Event | None) -> tuple[str, dict[str, object]]:
        """Key in the catalogue, and the fields that its sentence shows."""
        mode, unit = self._mode, self._unit
        key = f"event.{type(event).__name__}"
        fields = _memory_fields(memory or event)
        match event:
            case ev.BlocksAllocated():  # what happens most is asked for first
                fields["filled"] = event.filled
                return f"{key}.first" if event.filled is None else key, fields
            case ev.Arrived():
                return key, {"prompt": event.prompt_len, "output": event.output_len}
            case ev.Waiting():
                return self._why(event)
            case ev.Admitted() | ev.Recovered():
                fields["tokens"] = event.num_tokens
                return f"{key}.{mode}" if memory else key, fields
            case ev.Preempted():
                fields |= {"by": self.name(event.by), "tokens": event.num_lost}
                if memory is None:
                    return f"{key}.plain", fields
                if event.victim == "latest_arrival":
                    return f"{key}.self" if event.seq == event.by else key, fields
                return f"{key}.{'self.rules' if event.seq == event.by else event.victim}", fields
            case ev.Finished():
                fields["tokens"] = event.num_generated
                return f"{key}.{mode}" if memory else key, fields
            case ev.Rejected(reason="pool"):
                amounts = {"needed": event.needed // unit, "limit": event.limit // unit}
                return f"{key}.pool.{mode}", amounts
            case ev.Rejected():
                return f"{key}.{event.reason}", {"needed": event.needed, "limit": event.limit}
            case ev.Dropped():
                return f"{key}.freed" if memory else key, fields
            case ev.Forked():
                return f"{key}.{mode}", {"parent": self.name(event.parent), "shared": event.shared}
            case ev.BlockCopied():
                fields = {"source": event.source, "block": event.block, "holders": event.holders}
                return key, fields | {"free": event.free}
            case ev.PrefixShared():
                return key, {"blocks": event.num_blocks, "tokens": event.num_tokens}
            case ev.PrefixHit():
                return key, {"tokens": event.num_tokens}
            case ev.BlocksEvicted(nodes=nodes) if nodes:
                return f"{key}.tree", {"nodes": len(nodes)}
            case ev.PrefixCached():
                tokens = len(event.blocks) * unit
                return key, {"node": event.node, "tokens": tokens, "held": event.num_held}
            case ev.NodeSplit():
                return key, {"node": event.node, "upper": event.upper, "tokens": event.num_tokens}
            case ev.DuplicatesFreed():
                return key, {"free": event.free}
            case ev.Outgrown():
                return key, {"needed": event.needed // unit, "limit": event.limit // unit}
            case ev.SwappedOut():
                fields = {"blocks": event.num_blocks, "cpu": event.cpu_free}
                return key, fields | {"by": self.name(event.by)}
            case ev.SwappedIn():
                return key, {"blocks": event.num_blocks, "free": event.free}
        return key, fields

    def _why(self, event: ev.Waiting) -> tuple[str, dict[str, object]]:
        """The same of an event that says why somebody waits."""
        key, unit = f"event.Waiting.{event.reason}", self._unit
        if event.reason in ("batch", "preempted", "budget"):
            return key, {}
        amounts = {
            "needed": event.needed // unit,
            "free": event.free // unit,
            "largest": event.largest_free // unit,
            "cached": event.cached // unit,
            "unused": (event.free - event.cached) // unit,
        }
        return f"{key}.cached" if event.cached else f"{key}.{self._mode}", amounts


def _pair(first: ev.Event, second: ev.Event | None) -> tuple[ev.Event, ev.Event] | None:
    """(scheduler's event, memory's event) if the two are one happening."""
    if second is None or first.seq != second.seq:
        return None
    kinds = type(first), type(second)
    if kinds in _MEMORY_FIRST:
        return second, first
    return (first, second) if kinds in _MEMORY_SECOND else None


def _memory_fields(memory: ev.Event) -> dict[str, object]:
    """What an event of an allocator says about places and what is left."""
    match memory:
        case ev.BlocksAllocated():
            return {"free": memory.free}
        case ev.BlocksFreed():
            return {"free": memory.free, "kept": memory.kept}
        case ev.RegionReserved():
            return {"first": memory.start, "last": memory.start + memory.held - 1}
        case ev.RegionFreed():
            last = memory.start + memory.held - 1
            return {"first": memory.start, "last": last, "largest": memory.largest_free}
    return {}
