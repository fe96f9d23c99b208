from itertools import product

import pytest

from pycore.events import EventLog, RegionFreed, RegionReserved
from pycore.memory.contiguous import RESERVATIONS, ContiguousAllocator
from pycore.memory.placement import PLACEMENTS
from pycore.request import Request
from tests.pycore.build import decode, prefill, sequence

every_kind = pytest.mark.parametrize(("reservation", "placement"), list(product(RESERVATIONS, PLACEMENTS)))


def contiguous(
    reservation: str = "oracle",
    placement: str = "first_fit",
    capacity: int = 64,
    max_len: int = 24,
    log: EventLog | None = None,
) -> ContiguousAllocator:
    return ContiguousAllocator(
        PLACEMENTS[placement](capacity), RESERVATIONS[reservation], max_len, 4, log or EventLog()
    )


@pytest.mark.parametrize(
    ("reservation", "first_fit", "buddy"), [("max", 24, 32), ("pow2", 16, 16), ("oracle", 11, 16)]
)
def test_what_is_held_is_the_reservation_as_the_placement_rounds_it(reservation, first_fit, buddy):
    for placement, held in (("first_fit", first_fit), ("buddy", buddy)):
        memory = contiguous(reservation, placement)
        seq = sequence(0, prompt=5, output=6)
        assert (
            memory.slots_needed(seq.request)
            == memory.slots_to_admit([seq])
            == memory.piece_to_admit([seq])
            == held
        )
        assert prefill(memory, seq)
        assert memory.memory_map().held == (held,)
        assert memory.num_free == 64 - held


@pytest.mark.parametrize(("total", "reserved"), [(2, 2), (3, 4), (16, 16), (17, 24), (24, 24)])
def test_pow2_reserves_the_next_power_of_two_but_never_more_than_the_maximum(total, reserved):
    assert RESERVATIONS["pow2"](Request(0, 0, 1, total - 1), 24) == reserved


@every_kind
def test_a_region_never_grows_and_takes_every_token_to_the_end(reservation, placement):
    memory = contiguous(reservation, placement)
    seq = sequence(0, prompt=5, output=19)
    assert prefill(memory, seq)
    held = memory.memory_map().held
    for _ in range(18):
        assert decode(memory, seq)
        memory.check()
    assert memory.memory_map().held == held
    assert memory.memory_map().tokens == memory.memory_map().final == (23,)
    memory.free(seq)
    assert memory.num_free == 64


@every_kind
def test_a_refused_reservation_changes_nothing(reservation, placement):
    memory = contiguous(reservation, placement, capacity=24)
    first, second = (sequence(i, prompt=8, output=8) for i in range(2))
    if placement == "buddy" and reservation == "max":
        memory = contiguous(reservation, placement, capacity=32)
    assert prefill(memory, first)
    before = memory.memory_map()
    assert not prefill(memory, second)
    assert memory.memory_map() == before
    memory.check()
    memory.free(first)
    assert prefill(memory, second)


def test_enough_free_memory_in_pieces_is_not_enough():
    memory = contiguous(capacity=24)
    seqs = [sequence(i, prompt=4, output=4) for i in range(3)]
    assert all(prefill(memory, seq) for seq in seqs)
    memory.free(seqs[0])
    memory.free(seqs[2])
    assert (memory.num_free, memory.largest_free) == (16, 8)
    assert not prefill(memory, sequence(3, prompt=4, output=5))
    assert prefill(memory, sequence(4, prompt=4, output=4))


def test_the_watermark_has_no_meaning_where_nothing_grows():
    memory = contiguous(capacity=8)
    seq = sequence(0, prompt=4, output=4)
    assert memory.can_admit([seq], keep_free=8)


def test_a_buddy_pool_can_give_no_more_than_its_largest_region():
    assert contiguous(placement="buddy", capacity=60).largest_holding == 32
    assert contiguous(placement="first_fit", capacity=60).largest_holding == 60


def test_events_tell_place_and_size_and_the_largest_hole():
    log = EventLog()
    memory = contiguous(placement="buddy", capacity=32, log=log)
    seq = sequence(6, prompt=5, output=6)
    prefill(memory, seq)
    memory.free(seq)
    assert log.drain() == (RegionReserved(6, 0, 16, 11), RegionFreed(6, 0, 16, 32))


def test_freeing_what_is_not_held_is_an_error():
    with pytest.raises(KeyError):
        contiguous().free(sequence(0, prompt=1))


def test_the_map_gives_first_slots_and_holes():
    memory = contiguous(capacity=40)
    for id, prompt in ((3, 5), (1, 2), (8, 4)):
        assert prefill(memory, sequence(id, prompt, output=6))
    memory.free(sequence(1, prompt=2, output=6))
    found = memory.memory_map()
    assert (found.capacity, found.seqs, found.tokens, found.final) == (40, (3, 8), (5, 4), (10, 9))
    assert (found.held, found.places, found.used, found.holes) == ((11, 10), ((0,), (19,)), 21, (8, 11))


def corrupt_overlap(memory):
    memory._regions[1].start -= 1


def corrupt_gap(memory):
    memory._regions[1].held -= 1


def corrupt_lost_region(memory):
    del memory._regions[0]


def corrupt_more_tokens_than_slots(memory):
    memory._regions[0].num_tokens = 9


def corrupt_placement(memory):
    memory._placement.num_free -= 1


@pytest.mark.parametrize(
    "corrupt",
    [
        corrupt_overlap,
        corrupt_gap,
        corrupt_lost_region,
        corrupt_more_tokens_than_slots,
        corrupt_placement,
    ],
)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_check_catches_corruption(placement, corrupt):
    memory = contiguous(placement=placement, capacity=32)
    for id in range(2):
        assert prefill(memory, sequence(id, prompt=4, output=4))
    memory.check()
    corrupt(memory)
    with pytest.raises(AssertionError):
        memory.check()
