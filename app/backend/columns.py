"""A recording as the columns that the page's pictures draw; the format is told in docs/architecture.md."""

from collections.abc import Iterable

from app.backend.narrate import Line, narrate
from app.backend.texts import LANGUAGES
from pycore import events as ev
from pycore.recorder import Recording
from pycore.request import Request
from pycore.snapshot import Snapshot

FORMAT_VERSION = 1


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
    log = [list(narrate(frame.events, first.block_size, mode == "paged")) for frame in frames]
    return {
        "version": FORMAT_VERSION,
        "mode": mode,
        "num_blocks": first.capacity // first.block_size,
        "block_size": first.block_size,
        "capacity": first.capacity,
        "max_len": max_len,
        "steps": len(frames) - 1,
        "digest": recording.digest(),
        "seqs": _seqs(frames, requests),
        "frames": {**_frames(frames), "event_start": _starts(map(len, log))},
        **_holdings(frames, paged=mode == "paged"),
        "waits": {"seq": [seq for frame in frames for seq in frame.waiting]},
        "events": _sentences([line for lines in log for line in lines]),
    }


def _seqs(frames: tuple[Snapshot, ...], requests: tuple[Request, ...]) -> dict[str, list[int]]:
    """One entry a request that arrived: lengths in tokens, first and last frame (−1: still there)."""
    arrival: dict[int, int] = {}
    finish: dict[int, int] = {}
    for frame in frames:
        for event in frame.events:
            if isinstance(event, ev.Arrived):
                arrival[event.seq] = frame.step
            elif isinstance(event, ev.Finished | ev.Rejected):
                finish[event.seq] = frame.step
    arrived = [request for request in requests if request.id in arrival]
    return {
        "id": [request.id for request in arrived],
        "prompt": [request.prompt_len for request in arrived],
        "output": [request.output_len for request in arrived],
        "arrival": [arrival[request.id] for request in arrived],
        "finish": [finish.get(request.id, -1) for request in arrived],
    }


def _frames(frames: tuple[Snapshot, ...]) -> dict[str, list[int]]:
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
        "head": [frame.waiting[0] if frame.waiting else -1 for frame in frames],
        "head_needed": [frame.head_needed for frame in frames],
        "row_start": _starts(frame.num_running for frame in frames),
        "wait_start": _starts(len(frame.waiting) for frame in frames),
    }


def _starts(lengths: Iterable[int]) -> list[int]:
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts


def _holdings(frames: tuple[Snapshot, ...], paged: bool) -> dict:
    """Who holds what: one row a running sequence and frame.

    A block table only grows, so the rows of a residency share one list in `tables`, of which a row uses the
    first `held / block_size` entries; a table that is no continuation of the last one starts a new list.
    """
    rows: dict[str, list[int]] = {"seq": [], "tokens": [], "final": [], "held": [], "table": []}
    tables: list[tuple[int, ...]] = []
    current: dict[int, int] = {}  # sequence → its list in tables
    for frame in frames:
        memory = frame.memory
        rows["seq"] += memory.seqs
        rows["tokens"] += memory.tokens
        rows["final"] += memory.final
        rows["held"] += memory.held
        if not paged:
            rows["table"] += [place[0] for place in memory.places]
            continue
        for seq, place in zip(memory.seqs, memory.places, strict=True):
            at = current.get(seq)
            if at is None or place[: len(tables[at])] != tables[at]:
                at = current[seq] = len(tables)
                tables.append(place)
            elif len(place) > len(tables[at]):
                tables[at] = place
            rows["table"].append(at)
    return {"rows": rows, "tables": [list(table) for table in tables]}


def _sentences(lines: list[Line]) -> dict:
    """The log: one entry a sentence."""
    return {
        "kind": [line.kind for line in lines],
        "seq": [line.seq for line in lines],
        "blocks": [list(line.blocks) for line in lines],
        **{lang: [line.sentences[lang] for line in lines] for lang in LANGUAGES},
    }
