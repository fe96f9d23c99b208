"""A recording as the columns that the page's pictures draw; the format is told in docs/architecture.md."""

from collections.abc import Callable, Iterable

from app.backend.narrate import Line, Narrator
from app.backend.prefix_columns import prefix_columns
from app.backend.texts import LANGUAGES
from pycore import events as ev
from pycore.recorder import Recording
from pycore.request import NULL_ID, PREFIX_ID, Request
from pycore.snapshot import Snapshot

FORMAT_VERSION = 1
_NOT_NUMBERED = {PREFIX_ID: "prefix", NULL_ID: "null"}  # names of holders that are no sequences
_LAST = (ev.Finished, ev.Rejected, ev.Dropped)  # after which a sequence is gone


def recording_columns(recording: Recording, requests: tuple[Request, ...], mode: str, max_len: int) -> dict:
    """All of a run, as flat lists of integers and the sentences of its log.

    Rows, waiting queues and events of all frames lie one after the other; `row_start[t]`, `wait_start[t]` and
    `event_start[t]` say where frame t begins, and the last entry where the lists end.

    Args:
        recording: the run.
        requests: of the run's load; those that had not arrived by the end are left out.
        mode: "paged" or "contiguous".
        max_len: longest prompt plus output, in tokens.
    """
    first = recording[0].memory
    frames = recording.frames
    narrator = Narrator(first.block_size, mode == "paged")
    log = [list(narrator.lines(frame.events)) for frame in frames]
    sequences = _Sequences(frames, requests)
    cached_frames, cached = _cached(frames)
    prefix_frames, prefixes = prefix_columns(frames)
    return {
        "version": FORMAT_VERSION,
        "mode": mode,
        "num_blocks": first.capacity // first.block_size,
        "block_size": first.block_size,
        "capacity": first.capacity,
        "max_len": max_len,
        "steps": len(frames) - 1,
        "digest": recording.digest(),
        "seqs": sequences.columns(narrator),
        "frames": {**_frames(frames, sequences.number), "event_start": _starts(map(len, log))}
        | cached_frames
        | prefix_frames,
        **_holdings(frames, sequences.number, paged=mode == "paged"),
        "waits": {"seq": [sequences.number(seq) for frame in frames for seq in frame.waiting]},
        "events": _sentences([line for lines in log for line in lines], sequences.number),
        **cached,
        **prefixes,
    }


class _Sequences:
    """The sequences of a run, numbered from 0: requests in order of arrival, then forks in order of creation.

    In a run without forks a sequence's number is its request's id. The null block and the operator's prefix
    are numbered last.
    """

    def __init__(self, frames: tuple[Snapshot, ...], requests: tuple[Request, ...]) -> None:
        self._arrival: dict[int, int] = {}
        self._finish: dict[int, int] = {}
        self._request: dict[int, int] = {}
        self._parent: dict[int, int] = {}
        for frame in frames:
            for event in frame.events:
                kind = type(event)
                if kind is ev.Arrived:
                    self._arrival[event.seq] = frame.step
                    self._request[event.seq] = event.seq
                elif kind is ev.Forked:
                    self._arrival.setdefault(event.seq, frame.step)  # recomputed samples are forked again
                    self._request[event.seq] = self._request[event.parent]
                    self._parent[event.seq] = event.parent
                elif kind in _LAST:
                    self._finish[event.seq] = frame.step
        self._lengths = {request.id: request for request in requests}
        self._ids = sorted(self._arrival)
        for id in frames[0].memory.seqs:  # those that hold memory before the first step are no sequences
            self._ids.append(id)
            self._arrival[id] = 0
        self._number = {id: number for number, id in enumerate(self._ids)}

    def number(self, seq: int) -> int:
        """The number of the sequence with this id."""
        return self._number[seq]

    def columns(self, narrator: Narrator) -> dict[str, list]:
        """One entry a sequence: lengths in tokens, first and last frame (−1: still there)."""
        lengths = [self._lengths.get(self._request.get(id)) for id in self._ids]
        return {
            "id": list(range(len(self._ids))),
            "name": [_NOT_NUMBERED.get(id) or narrator.name(id) for id in self._ids],
            "request": [self._number[self._request.get(id, id)] for id in self._ids],
            "parent": [self._number[self._parent[id]] if id in self._parent else -1 for id in self._ids],
            "prompt": [request.prompt_len if request else 0 for request in lengths],
            "output": [request.output_len if request else 0 for request in lengths],
            "arrival": [self._arrival[id] for id in self._ids],
            "finish": [self._finish.get(id, -1) for id in self._ids],
        }


def _frames(frames: tuple[Snapshot, ...], number: Callable[[int], int]) -> dict[str, list[int]]:
    """One entry a frame, but for the three starts, which have one more."""
    return {
        "now_ns": [frame.now_ns for frame in frames],
        "running": [frame.num_running for frame in frames],
        "waiting": [len(frame.waiting) for frame in frames],
        "finished": [frame.num_finished for frame in frames],
        "rejected": [frame.num_rejected for frame in frames],
        "preemptions": [frame.num_preemptions for frame in frames],
        "used_blocks": [-(-frame.memory.used // frame.memory.block_size) for frame in frames],
        "real": [frame.waste.real for frame in frames],
        "reserved": [frame.waste.reserved for frame in frames],
        "internal": [frame.waste.internal for frame in frames],
        "external": [frame.waste.external for frame in frames],
        "usable": [frame.waste.usable for frame in frames],
        "free": [frame.num_free for frame in frames],
        "largest_free": [frame.largest_free for frame in frames],
        "head": [number(frame.waiting[0]) if frame.waiting else -1 for frame in frames],
        "head_needed": [frame.head_needed for frame in frames],
        "row_start": _starts(len(frame.memory.seqs) for frame in frames),
        "wait_start": _starts(len(frame.waiting) for frame in frames),
    }


def _cached(frames: tuple[Snapshot, ...]) -> tuple[dict[str, list[int]], dict[str, dict[str, list[int]]]]:
    """Columns of `frames`, and a list of blocks, for what is cached and unused; none without a cache."""
    blocks = [frame.memory.cached for frame in frames]
    if frames[0].prefixes is None:
        return {}, {}
    counts = {"cached": [frame.num_cached for frame in frames], "cached_start": _starts(map(len, blocks))}
    return counts, {"cached": {"block": [block for cached in blocks for block in cached]}}


def _starts(lengths: Iterable[int]) -> list[int]:
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts


def _holdings(frames: tuple[Snapshot, ...], number: Callable[[int], int], paged: bool) -> dict:
    """Who holds what: one row a running sequence and frame.

    A block table only grows, so the rows of a residency share one list in `tables`, of which a row uses the
    first `held / block_size` entries; a table that is no continuation of the last one starts a new list.
    """
    rows: dict[str, list[int]] = {"seq": [], "tokens": [], "final": [], "held": [], "table": []}
    tables: list[tuple[int, ...]] = []
    current: dict[int, int] = {}  # sequence → its list in tables
    for frame in frames:
        memory = frame.memory
        rows["seq"] += map(number, memory.seqs)
        rows["tokens"] += memory.tokens
        rows["final"] += memory.final
        rows["held"] += memory.held
        if not paged:
            rows["table"] += [place[0] for place in memory.places]
            continue
        for seq, place in zip(memory.seqs, memory.places, strict=True):
            at = current.get(seq)
            if at is None:
                at = current[seq] = len(tables)
                tables.append(place)
            elif place is not (before := tables[at]):  # snapshots share a table that did not change
                if place[: len(before)] != before:
                    at = current[seq] = len(tables)
                    tables.append(place)
                elif len(place) > len(before):
                    tables[at] = place
            rows["table"].append(at)
    return {"rows": rows, "tables": [list(table) for table in tables]}


def _sentences(lines: list[Line], number: Callable[[int], int]) -> dict:
    """The log: one entry a sentence."""
    nodes = [list(line.nodes) for line in lines]
    return {
        "kind": [line.kind for line in lines],
        "seq": [number(line.seq) for line in lines],
        "blocks": [list(line.blocks) for line in lines],
        **({"nodes": nodes} if any(nodes) else {}),
        **{lang: [line.sentences[lang] for line in lines] for lang in LANGUAGES},
    }
