import pytest

from pycore.events import BlocksAllocated, BlocksFreed, EventLog
from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import Ascending
from pycore.memory.paged import PagedAllocator
from tests.pycore.build import decode, prefill, sequence, write


def paged(num_blocks: int = 8, block_size: int = 4, log: EventLog | None = None) -> PagedAllocator:
    return PagedAllocator(BlockPool(num_blocks, Ascending(range(num_blocks))), block_size, log or EventLog())


def test_a_block_is_taken_only_when_the_last_one_is_full():
    memory = paged()
    seq = sequence(0, prompt=6)
    assert prefill(memory, seq)
    held = [memory.block_table(seq)]
    for _ in range(6):
        assert decode(memory, seq)
        held.append(memory.block_table(seq))
    assert [len(table) for table in held] == [2, 2, 2, 3, 3, 3, 3]
    memory.check()


def test_less_than_one_block_is_wasted_whatever_the_length():
    memory = paged(num_blocks=40, block_size=5)
    seq = sequence(0, prompt=1, output=200)
    assert prefill(memory, seq)
    for _ in range(100):
        assert decode(memory, seq)
        [held], [tokens] = memory.memory_map().held, memory.memory_map().tokens
        assert 0 <= held - tokens < 5


def test_any_free_block_will_do():
    memory = paged(num_blocks=5)
    first, second, third = (sequence(i, prompt=p) for i, p in enumerate((4, 4, 12)))
    assert prefill(memory, first)
    assert prefill(memory, second)
    memory.free(first)
    assert memory.largest_free == memory.num_free == 16
    assert prefill(memory, third)
    assert memory.block_table(third) == (0, 2, 3)
    assert memory.memory_map().holes == (4,)


def test_a_refused_allocation_changes_nothing():
    memory = paged(num_blocks=2)
    holder, late = sequence(0, prompt=5), sequence(1, prompt=1)
    assert prefill(memory, holder)
    before = memory.memory_map()
    assert not prefill(memory, late)
    holder.num_tokens += 4
    assert not memory.allocate_slots(holder, 4)
    assert memory.memory_map() == before
    assert memory.block_table(late) == ()
    memory.check()


def test_the_watermark_keeps_blocks_free():
    memory = paged(num_blocks=4)
    seq = sequence(0, prompt=8)
    assert not memory.can_admit([seq], keep_free=9)  # 9 slots are 3 blocks: 2 + 3 > 4
    assert memory.can_admit([seq], keep_free=8)
    assert memory.num_free == 16  # asking takes nothing


def test_room_that_is_there_already_needs_no_block():
    memory = paged(num_blocks=1)
    seq = sequence(0, prompt=2)
    assert prefill(memory, seq)
    seq.num_tokens = 4
    assert memory.allocate_slots(seq, 2)


def test_events_tell_the_new_blocks_the_filled_one_and_what_is_left():
    log = EventLog()
    memory = paged(log=log)
    seq = sequence(3, prompt=8)
    prefill(memory, seq)
    decode(memory, seq)
    memory.free(seq)
    assert log.drain() == (
        BlocksAllocated(3, (0, 1), None, 6),
        BlocksAllocated(3, (2,), 1, 5),
        BlocksFreed(3, (0, 1, 2), 8),
    )


def test_freeing_what_is_not_held_is_an_error():
    memory = paged()
    with pytest.raises(KeyError):
        memory.free(sequence(0, prompt=1))


def test_sizes_asked_for_are_whole_blocks():
    memory = paged(num_blocks=8, block_size=4)
    seq = sequence(0, prompt=5, output=5)
    assert memory.slots_needed(seq.request) == 12  # 9 KV slots
    assert memory.slots_to_admit([seq]) == 8
    seq.num_tokens = 9  # preempted after four tokens: they are computed again
    assert memory.slots_to_admit([seq]) == 12
    assert (memory.capacity, memory.largest_holding) == (32, 32)


def test_the_map_lists_tables_in_order_of_admission():
    memory = paged()
    for id, prompt in ((4, 3), (2, 6)):
        prefill(memory, sequence(id, prompt, output=5))
    found = memory.memory_map()
    assert (found.capacity, found.block_size, found.seqs, found.tokens) == (32, 4, (4, 2), (3, 6))
    assert (found.final, found.held, found.places) == ((7, 10), (4, 8), ((0,), (1, 2)))
    assert (found.used, found.holes) == (12, (20,))


def test_a_full_pool_has_no_hole():
    memory = paged(num_blocks=1)
    prefill(memory, sequence(0, prompt=4))
    assert memory.memory_map().holes == ()


def corrupt_table_holds_a_free_block(memory, seq):
    memory._tables[seq.id].blocks.append(7)


def corrupt_two_tables_hold_one_block_unshared(memory, seq):
    other = sequence(9, prompt=4)
    prefill(memory, other)
    memory._tables[9].blocks[0] = memory._tables[seq.id].blocks[0]


def corrupt_held_block_in_no_table(memory, seq):
    memory.pool.share(memory._tables[seq.id].blocks[:1])


def corrupt_more_tokens_than_slots(memory, seq):
    memory._tables[seq.id].num_tokens = 9


def corrupt_pool(memory, seq):
    memory.pool._free.take(1)


@pytest.mark.parametrize(
    "corrupt",
    [
        corrupt_table_holds_a_free_block,
        corrupt_two_tables_hold_one_block_unshared,
        corrupt_held_block_in_no_table,
        corrupt_more_tokens_than_slots,
        corrupt_pool,
    ],
)
def test_check_catches_corruption(corrupt):
    memory = paged()
    seq = sequence(0, prompt=6)
    assert memory.allocate_slots(seq, 6)
    write(memory, seq)
    memory.check()
    corrupt(memory, seq)
    with pytest.raises(AssertionError):
        memory.check()
