"""Every event becomes a sentence with its reason, in both languages."""

import inspect
import string

import pytest

from app.backend.narrate import Narrator
from pycore import events as ev
from pycore.request import FIRST_FORKED_ID
from pycore.scheduling.policies import VICTIM

ENGLISH = set(string.printable) | set("–’")

EVENTS = [
    ev.Arrived(3, 7, 9),
    ev.Rejected(3, 280, 256, "pool"),
    ev.Rejected(3, 280, 256, "context"),
    ev.Waiting(3, 12, 8, 8, "memory"),
    ev.Waiting(3, 12, 16, 16, "watermark"),
    ev.Waiting(3, 12, 16, 16, "batch"),
    ev.Waiting(3, 12, 16, 16, "preempted"),
    ev.BlocksAllocated(3, (4, 9), None, 5),
    ev.BlocksAllocated(3, (4,), 2, 5),
    ev.BlocksFreed(3, (4, 9), 5),
    ev.BlocksFreed(3, (), 5, kept=2),
    ev.Rejected(3, 8, 4, "sequences"),
    ev.Forked(FIRST_FORKED_ID, 3, "r3.1", 4),
    ev.BlockCopied(3, 4, 9, 2, 5),
    ev.PrefixShared(3, 2, 8),
    ev.PrefixHit(3, (4, 9), 8),
    ev.BlocksEvicted(3, (4, 9)),
    ev.BlocksEvicted(3, (4, 9), (7,)),
    ev.PrefixCached(3, (4, 9), 7, 2, 8),
    ev.NodeSplit(3, 7, 12, 5),
    ev.DuplicatesFreed(3, (5,), 2),
    ev.Outgrown(3, 24, 20),
    ev.Waiting(3, 12, 16, 16, "budget"),
    ev.Waiting(3, 12, 16, 16, "set_aside"),
    ev.Waiting(3, 12, 16, 16, "set_aside", cached=8),
    ev.Waiting(3, 12, 8, 8, "memory", cached=4),
    ev.Waiting(3, 12, 16, 16, "watermark", cached=8),
    ev.Dropped(3),
    ev.SwappedOut(3, 1, 4, 6),
    ev.SwappedIn(3, 4, 6),
    ev.Admitted(3, 7),
    ev.Recovered(3, 7),
    ev.Finished(3, 7),
    ev.Preempted(3, 1, 7),
]
REGION_EVENTS = [
    ev.Waiting(3, 12, 16, 8, "fragmented"),
    ev.Waiting(3, 12, 8, 8, "memory"),
    ev.Rejected(3, 280, 256, "pool"),
    ev.RegionReserved(3, 64, 64, 60),
    ev.RegionFreed(3, 64, 64, 128),
    ev.Forked(FIRST_FORKED_ID, 3, "r3.1", 0),
    ev.Dropped(3),
    ev.Finished(3, 7),
]
PAIRS = [
    (ev.BlocksAllocated(3, (4, 9), None, 5), ev.Admitted(3, 7)),
    (ev.BlocksAllocated(3, (4, 9), None, 5), ev.Recovered(3, 7)),
    (ev.Preempted(3, 1, 7), ev.BlocksFreed(3, (4, 9), 5)),
    (ev.Preempted(3, 3, 7), ev.BlocksFreed(3, (4, 9), 5)),
    *((ev.Preempted(3, by, 7, victim), ev.BlocksFreed(3, (4, 9), 5)) for victim in VICTIM for by in (1, 3)),
    (ev.Finished(3, 9), ev.BlocksFreed(3, (4, 9), 5)),
    (ev.Dropped(3), ev.BlocksFreed(3, (4, 9), 5, kept=1)),
    (ev.RegionReserved(3, 64, 64, 60), ev.Admitted(3, 7)),
    (ev.Finished(3, 9), ev.RegionFreed(3, 64, 64, 128)),
]


def lines_of(*events, paged=True):
    return list(Narrator(block_size=4, paged=paged).lines(tuple(events)))


@pytest.mark.parametrize(("paged", "events"), [(True, EVENTS), (False, REGION_EVENTS)])
def test_each_event_is_told_in_both_languages(paged, events):
    for event in events:
        (line,) = lines_of(event, paged=paged)
        assert line.kind == type(event).__name__
        assert "r3" in line.sentences["en"]
        assert "r3" in line.sentences["zh"]
        assert set(line.sentences["en"]) <= ENGLISH
        assert not line.sentences["zh"].isascii()


@pytest.mark.parametrize("pair", PAIRS)
def test_what_scheduler_and_memory_did_is_one_sentence(pair):
    paged = not any(isinstance(event, ev.RegionReserved | ev.RegionFreed) for event in pair)
    (line,) = lines_of(*pair, paged=paged)
    assert line.kind in ("Admitted", "Recovered", "Preempted", "Finished", "Dropped")
    if paged:
        assert line.blocks == (4, 9)
        assert "4, 9" in line.sentences["en"]


def test_events_of_two_sequences_are_not_merged():
    lines = lines_of(ev.BlocksAllocated(3, (1,), None, 5), ev.Waiting(4, 12, 8, 8, "memory"))
    assert [(line.seq, line.kind) for line in lines] == [(3, "BlocksAllocated"), (4, "Waiting")]


def test_no_kind_of_event_is_left_untold():
    kinds = {
        name for name, kind in inspect.getmembers(ev, inspect.isclass) if hasattr(kind, "__match_args__")
    }
    told = {type(event).__name__ for event in [*EVENTS, *REGION_EVENTS, *[e for pair in PAIRS for e in pair]]}
    assert kinds == told


def test_paged_amounts_are_told_in_blocks_and_contiguous_ones_in_slots():
    (paged,) = lines_of(ev.Waiting(3, 12, 8, 8, "memory"))
    assert paged.sentences["en"] == "r3 waits: it needs 3 blocks, 2 were free when it asked."
    (contiguous,) = lines_of(ev.Waiting(3, 64, 80, 40, "fragmented"), paged=False)
    assert contiguous.sentences["en"] == (
        "r3 waits although 80 slots were free when it asked: "
        "it wants 64 in one piece, and the largest hole had 40."
    )


def test_a_forked_sequence_is_called_by_its_name_from_then_on():
    narrator = Narrator(block_size=4, paged=True)
    list(narrator.lines((ev.Forked(FIRST_FORKED_ID, 3, "r3.1", 4),)))
    (line,) = narrator.lines((ev.BlockCopied(FIRST_FORKED_ID, 4, 9, 1, 5),))
    assert line.sentences["en"].startswith("r3.1 writes into block 4, which 1 other table holds")
    assert line.blocks == (4, 9)
