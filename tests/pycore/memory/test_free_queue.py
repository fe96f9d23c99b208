"""In which order free blocks go where some of them are cached."""

import pytest

from pycore.memory.free_queue import FreeQueue


def test_blocks_leave_at_the_head_in_the_order_given():
    free = FreeQueue([3, 1, 2], cached=())
    assert free.pop() == 3
    assert free.take(2) == [1, 2]


def test_cached_blocks_go_to_the_tail_and_others_to_the_head_each_in_their_order():
    free = FreeQueue([0], cached={5, 6})
    free.put([4, 6, 3, 5])
    assert list(free) == [4, 3, 0, 6, 5]


def test_all_go_to_the_tail_if_told_so():
    free = FreeQueue([0], cached={5, 6}, uncached_first=False)
    free.put([4, 6, 3, 5])
    assert list(free) == [0, 4, 6, 3, 5]


def test_a_block_is_taken_out_from_the_middle():
    free = FreeQueue(range(4), cached=())
    free.remove(2)
    assert list(free) == [0, 1, 3]
    assert len(free) == 3


def test_a_block_that_is_not_free_cannot_be_taken_out():
    with pytest.raises(KeyError):
        FreeQueue(range(4), cached=()).remove(4)
