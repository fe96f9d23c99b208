import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.memory.memory_map import MemoryMap
from pycore.memory.waste import Waste, account
from tests.pycore.build import MEMORY_CHOICES, allocator, prefill, sequence

EMPTY = MemoryMap(64, 4, (), (), (), (), (), 0, (64,))


def contiguous_map(holes: tuple[int, ...]) -> MemoryMap:
    return MemoryMap(64, 4, (0,), (5,), (12,), (20,), ((0,),), 64 - sum(holes), holes)


def test_a_held_slot_is_real_reserved_or_never_used():
    memory = MemoryMap(64, 4, (0, 1), (5, 12), (12, 12), (20, 12), ((0,), (20,)), 32, (32,))
    assert account(memory, 0) == Waste(real=17, reserved=7, internal=8, external=0, usable=32)


def test_the_empty_slots_of_a_growing_paged_sequence_are_reserved_and_not_internal():
    memory = MemoryMap(64, 4, (0, 1), (5, 6), (20, 6), (8, 8), ((0, 1), (2, 3)), 16, (48,))
    assert account(memory, 0) == Waste(real=11, reserved=3, internal=2, external=0, usable=48)


@pytest.mark.parametrize(("demand", "external"), [(0, 0), (4, 0), (5, 4), (16, 4), (17, 20), (99, 44)])
def test_only_holes_too_small_for_the_next_sequence_are_external(demand, external):
    waste = account(contiguous_map((4, 16, 24)), demand)
    assert (waste.external, waste.usable) == (external, 44 - external)


def test_free_memory_in_one_piece_is_never_external():
    assert account(contiguous_map((10,)), 30).external == 0


def test_shares_of_an_empty_pool():
    waste = account(EMPTY, 0)
    assert (waste.share_of_used, waste.share_of_pool) == (0.0, 1.0)
    assert (waste.used, waste.capacity) == (0, 64)


def test_the_two_wastes_of_the_sources_first_picture():
    # 58 of 64 blocks of 4 used by 14 requests with 213 tokens: 8 % inside used blocks, 17 % of the pool.
    waste = Waste(real=213, reserved=19, internal=0, external=0, usable=24)
    assert (waste.used, waste.capacity) == (232, 256)
    assert waste.share_of_used == 1 - 213 / 232
    assert waste.share_of_pool == 1 - 213 / 256
    assert (f"{waste.share_of_used:.0%}", f"{waste.share_of_pool:.0%}") == ("8%", "17%")


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
@given(data=st.data())
def test_the_five_figures_add_up_to_the_pool_for_any_demand(choice, data):
    memory = allocator(choice, num_blocks=data.draw(st.integers(4, 20)), block_size=4, max_len=16)
    for id in range(data.draw(st.integers(0, 8))):
        prompt = data.draw(st.integers(1, 15))
        seq = sequence(id, prompt, output=data.draw(st.integers(1, 16 - prompt)))
        if prefill(memory, seq) and data.draw(st.booleans()):
            memory.free(seq)
    waste = account(memory.memory_map(), data.draw(st.integers(0, 90)))
    parts = (waste.real, waste.reserved, waste.internal, waste.external, waste.usable)
    assert min(parts) >= 0
    assert sum(parts) == memory.capacity
    assert waste.usable + waste.external == memory.num_free
    assert 0 <= waste.share_of_used <= waste.share_of_pool <= 1
