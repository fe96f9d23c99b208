from pycore.memory.block_table import BlockTable


def test_a_table_starts_empty_and_grows_at_the_logical_end():
    table = BlockTable(final_tokens=12)
    assert (table.blocks, table.num_tokens, table.final_tokens, table.as_tuple()) == ([], 0, 12, ())
    table.append([7, 3], block_size=4)
    table.append([5], block_size=4)
    assert (table.blocks, table.num_slots) == ([7, 3, 5], 12)
    assert table.as_tuple() == (7, 3, 5)


def test_a_frozen_table_is_shared_between_steps_until_it_grows():
    table = BlockTable(final_tokens=12)
    table.append([7], block_size=4)
    before = table.as_tuple()
    assert table.as_tuple() is before
    table.append([2], block_size=4)
    assert (before, table.as_tuple()) == ((7,), (7, 2))
