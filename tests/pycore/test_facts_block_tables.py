"""Facts T1, T2, T9 and E7 as the sources give them: exact tables, counts and sizes."""

import pytest

from pycore.events import NullLog, Rejected
from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import Ascending, LastFreedFirst
from pycore.memory.paged import PagedAllocator
from tests.pycore.build import allocator, decode, engine, prefill, sequence, step


def test_t1_two_requests_grow_in_a_shuffled_pool_of_12_blocks_of_8():
    order = [8, 11, 4, 7, 5, 0, 1, 9, 2, 3, 6, 10]
    pool = BlockPool(12, LastFreedFirst(order))
    memory = PagedAllocator(pool, 8, NullLog())
    a, b = sequence(0, prompt=20, output=30), sequence(1, prompt=24, output=30)
    assert prefill(memory, a)
    assert prefill(memory, b)
    assert (memory.block_table(a), memory.block_table(b)) == ((8, 11, 4), (7, 5, 0))
    assert pool.num_free == 6
    expected = {
        1: (21, (8, 11, 4), 25, (7, 5, 0, 1), 5),
        5: (25, (8, 11, 4, 9), 29, (7, 5, 0, 1), 4),
        12: (32, (8, 11, 4, 9), 36, (7, 5, 0, 1, 2), 3),
    }
    for number in range(1, 13):
        assert decode(memory, a)
        assert decode(memory, b)
        memory.check()
        if number in expected:
            found = (a.num_computed, memory.block_table(a), b.num_computed, memory.block_table(b))
            assert (*found, pool.num_free) == expected[number]
    assert a.num_computed == 8 * len(memory.block_table(a))  # its last block is full, 8 of 8


def test_t2_blocks_of_4_in_ascending_order():
    memory = PagedAllocator(BlockPool(12, Ascending(range(12))), 4, NullLog())
    a, b = sequence(0, prompt=9, output=9), sequence(1, prompt=17, output=9)
    assert prefill(memory, a)
    assert prefill(memory, b)
    assert (memory.block_table(a), memory.block_table(b)) == ((0, 1, 2), (3, 4, 5, 6, 7))
    for _ in range(3):
        assert decode(memory, a)
        assert decode(memory, b)
    assert (memory.block_table(a), memory.block_table(b)) == ((0, 1, 2), (3, 4, 5, 6, 7))
    assert decode(memory, a)
    assert memory.block_table(a) == (0, 1, 2, 8)
    assert decode(memory, b)
    assert memory.block_table(b) == (3, 4, 5, 6, 7, 9)


def test_t9_a_prompt_of_6_takes_its_third_block_with_the_9th_token():
    memory = allocator("paged-ascending", num_blocks=8, block_size=4, max_len=64)
    seq = sequence(0, prompt=6)
    assert prefill(memory, seq)
    counts = [len(memory.block_table(seq))]
    for _ in range(3):
        assert decode(memory, seq)
        counts.append(len(memory.block_table(seq)))
    assert (seq.num_computed, counts) == (9, [2, 2, 2, 3])


def test_t9_a_prompt_of_4_takes_its_second_block_with_the_5th_token():
    memory = allocator("paged-ascending", num_blocks=8, block_size=4, max_len=64)
    seq = sequence(0, prompt=4)
    assert prefill(memory, seq)
    assert len(memory.block_table(seq)) == 1
    assert decode(memory, seq)
    assert len(memory.block_table(seq)) == 2


def test_t9_a_prompt_of_5_in_a_pool_of_one_block_of_4_leaks_nothing():
    memory = allocator("paged-ascending", num_blocks=1, block_size=4, max_len=64)
    seq = sequence(0, prompt=5)
    before = memory.memory_map()
    assert not prefill(memory, seq)
    memory.check()
    assert memory.memory_map() == before
    assert memory.num_free == 4
    assert prefill(memory, sequence(1, prompt=4, output=1))


def test_t9_the_engine_turns_that_prompt_away_with_its_size():
    started = engine([(5, 1)], num_blocks=1)
    assert Rejected(seq=0, needed=8, limit=4, reason="pool") in step(started)
    assert started.done
    assert started.allocator.num_free == 4


@pytest.mark.parametrize(
    ("choice", "held"),
    [
        ("contiguous-max-first_fit", 2048),
        ("contiguous-pow2-first_fit", 512),
        ("contiguous-oracle-first_fit", 400),
        ("contiguous-max-buddy", 2048),
        ("contiguous-pow2-buddy", 512),
        ("contiguous-oracle-buddy", 512),  # a buddy placement rounds what Oracle asks for
        ("paged-ascending", 256),
    ],
)
def test_e7_held_for_250_real_tokens(choice, held):
    memory = allocator(choice, num_blocks=128, block_size=16, max_len=2048)
    seq = sequence(0, prompt=100, output=300)
    assert prefill(memory, seq)
    for _ in range(150):
        assert decode(memory, seq)
    assert memory.memory_map().tokens == (250,)
    assert memory.memory_map().held == (held,)
