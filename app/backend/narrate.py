"""Events → sentences: one line of the log for each thing that happened, in every language."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.backend.texts import LANGUAGES, text
from pycore import events as ev


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of the log.

    Attributes:
        kind: name of the event's class; what the mark on the time line shows.
        seq: the sequence it is about.
        blocks: physical blocks it names.
        sentences: by language.
    """

    kind: str
    seq: int
    blocks: tuple[int, ...] = ()
    sentences: dict[str, str] = field(default_factory=dict)


def narrate(events: tuple[ev.Event, ...], block_size: int, paged: bool) -> Iterator[Line]:
    """The log lines of one step, in order.

    An admission, a preemption and a finish each come as two events, what the scheduler did and what memory
    did; they are told in one sentence.

    Args:
        events: of one step.
        block_size: slots a block: slots are told as blocks where memory is paged.
        paged: which allocator it was.
    """
    at = 0
    while at < len(events):
        first = events[at]
        second = events[at + 1] if at + 1 < len(events) else None
        pair = _pair(first, second)
        at += 2 if pair else 1
        yield _line(*(pair or (first, None)), block_size, paged)


def _pair(first: ev.Event, second: ev.Event | None) -> tuple[ev.Event, ev.Event] | None:
    """(scheduler's event, memory's event) if the two are one happening."""
    if second is None or first.seq != second.seq:
        return None
    if isinstance(first, ev.BlocksAllocated | ev.RegionReserved) and isinstance(
        second, ev.Admitted | ev.Recovered
    ):
        return second, first
    if isinstance(first, ev.Finished | ev.Preempted) and isinstance(second, ev.BlocksFreed | ev.RegionFreed):
        return first, second
    return None


def _line(event: ev.Event, memory: ev.Event | None, block_size: int, paged: bool) -> Line:
    kind = type(event).__name__
    blocks = getattr(memory or event, "blocks", ())
    key, fields = _key_and_fields(kind, event, memory, block_size, paged)
    sentences = {}
    for lang in LANGUAGES:
        number = "none" if not blocks else "one" if len(blocks) == 1 else "many"
        places = text(lang, f"event.places.{number}", blocks=", ".join(map(str, blocks)))
        sentence = text(lang, key, seq=f"r{event.seq}", places=places, **fields)
        sentences[lang] = sentence[:1].upper() + sentence[1:] if sentence.startswith("block") else sentence
    return Line(kind, event.seq, tuple(blocks), sentences)


def _key_and_fields(
    kind: str, event: ev.Event, memory: ev.Event | None, block_size: int, paged: bool
) -> tuple[str, dict[str, object]]:
    """Key in the catalogue, and the fields that its sentence shows."""
    mode = "paged" if paged else "contiguous"
    unit = block_size if paged else 1
    region = memory if isinstance(memory, ev.RegionReserved | ev.RegionFreed) else event
    fields: dict[str, object] = {}
    if isinstance(region, ev.RegionReserved | ev.RegionFreed):
        fields |= {"first": region.start, "last": region.start + region.held - 1}
    if isinstance(region, ev.RegionFreed):
        fields["largest"] = region.largest_free
    if isinstance(memory, ev.BlocksAllocated | ev.BlocksFreed):
        fields["free"] = memory.free
    match event:
        case ev.Arrived():
            return "event.Arrived", {"prompt": event.prompt_len, "output": event.output_len}
        case ev.Rejected(reason="context"):
            return "event.Rejected.context", {"needed": event.needed, "limit": event.limit}
        case ev.Rejected():
            return f"event.Rejected.pool.{mode}", {
                "needed": event.needed // unit,
                "limit": event.limit // unit,
            }
        case ev.Waiting():
            key = f"event.Waiting.{event.reason}"
            return key if event.reason in ("batch", "preempted") else f"{key}.{mode}", {
                "needed": event.needed // unit,
                "free": event.free // unit,
                "largest": event.largest_free // unit,
            }
        case ev.Admitted() | ev.Recovered():
            return f"event.{kind}.{mode}", fields | {"tokens": event.num_tokens}
        case ev.Preempted():
            key = "event.Preempted.self" if event.seq == event.by else "event.Preempted"
            return key, fields | {"by": f"r{event.by}", "tokens": event.num_lost}
        case ev.Finished():
            return f"event.Finished.{mode}", fields | {"tokens": event.num_generated}
        case ev.BlocksAllocated(filled=None):
            return "event.BlocksAllocated.first", {"free": event.free}
        case ev.BlocksAllocated():
            return "event.BlocksAllocated", {"free": event.free, "filled": event.filled}
        case ev.BlocksFreed():
            return "event.BlocksFreed", {"free": event.free}
    return f"event.{kind}", fields
