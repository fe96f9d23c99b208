import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.memory.free_list import FREE_ORDERS, Ascending, LastFreedFirst, Shuffled
from pycore.rng import Rng

orders = pytest.mark.parametrize("order", FREE_ORDERS)


def test_ascending_hands_out_the_lowest_number():
    free = Ascending([3, 1, 2, 0])
    assert free.take(3) == [0, 1, 2]
    free.put([2, 0])
    assert free.take(3) == [0, 2, 3]


def test_last_freed_first_is_a_stack_over_the_order_given():
    free = LastFreedFirst([8, 11, 4])
    assert free.take(2) == [8, 11]
    free.put([8, 11])
    assert free.take(1) == [11]
    assert free.take(2) == [8, 4]


def test_shuffled_is_fixed_by_its_stream():
    free = Shuffled(range(8), Rng(0).fork("free_order"))
    assert free.take(4) == [2, 6, 5, 7]
    assert Shuffled(range(8), Rng(1)).take(8) == Shuffled(range(8), Rng(1)).take(8)
    assert Shuffled(range(8), Rng(1)).take(8) != Shuffled(range(8), Rng(2)).take(8)


def test_shuffled_puts_a_freed_block_anywhere():
    places = set()
    for seed in range(40):
        free = Shuffled(range(4), Rng(seed))
        [block] = free.take(1)
        free.put([block])
        places.add(free.take(4).index(block))
    assert places == {0, 1, 2, 3}


@orders
def test_taking_none_changes_nothing(order):
    free = FREE_ORDERS[order](range(3), Rng(0))
    assert free.take(0) == []
    assert (len(free), sorted(free)) == (3, [0, 1, 2])


@orders
def test_taking_one_at_a_time_equals_taking_all_at_once(order):
    one, many = (FREE_ORDERS[order](range(9), Rng(3)) for _ in range(2))
    assert [one.take(1)[0] for _ in range(9)] == many.take(9)


@orders
@given(data=st.data())
def test_each_block_is_handed_out_once_until_it_is_put_back(order, data):
    size = data.draw(st.integers(1, 12))
    free = FREE_ORDERS[order](range(size), Rng(size))
    held: list[int] = []
    for _ in range(data.draw(st.integers(0, 20))):
        if data.draw(st.booleans()):
            taken = free.take(data.draw(st.integers(0, len(free))))
            assert not set(taken) & set(held)
            held += taken
        else:
            kept = data.draw(st.integers(0, len(held)))
            free.put(held[kept:])
            del held[kept:]
        assert sorted([*free, *held]) == list(range(size))
        assert len(free) == size - len(held)
