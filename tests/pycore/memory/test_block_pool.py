import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import FREE_ORDERS, Ascending
from pycore.rng import Rng


def pool_of(num_blocks: int) -> BlockPool:
    return BlockPool(num_blocks, Ascending(range(num_blocks)))


def test_all_or_nothing():
    pool = pool_of(4)
    assert pool.allocate(3) == [0, 1, 2]
    assert pool.allocate(2) is None
    assert pool.num_free == 1
    pool.check()
    assert pool.allocate(1) == [3]
    assert pool.allocate(1) is None
    assert pool.allocate(0) == []


def test_a_negative_number_of_blocks_is_refused():
    with pytest.raises(ValueError, match="-1 blocks"):
        pool_of(4).allocate(-1)


@pytest.mark.parametrize(("num_blocks", "listed"), [(0, 0), (-1, 0), (4, 3), (4, 5)])
def test_a_pool_needs_blocks_and_a_free_list_of_as_many(num_blocks, listed):
    with pytest.raises(ValueError, match="at least 1 block"):
        BlockPool(num_blocks, Ascending(range(listed)))


def test_a_shared_block_is_free_after_its_last_holder_left():
    pool = pool_of(4)
    blocks = pool.allocate(2)
    pool.share(blocks)
    pool.share([1])
    assert [pool.ref_count(block) for block in range(4)] == [2, 3, 0, 0]
    assert pool.free(blocks) == []
    assert pool.free(blocks) == [0]
    assert pool.num_free == 3
    pool.check()
    assert pool.free([1]) == [1]
    assert pool.num_free == 4
    pool.check()


def test_sharing_a_free_block_is_refused_and_changes_nothing():
    pool = pool_of(4)
    pool.allocate(2)
    with pytest.raises(ValueError, match="block 3"):
        pool.share([0, 1, 3])
    assert [pool.ref_count(block) for block in range(4)] == [1, 1, 0, 0]
    pool.check()


def test_a_double_free_raises_and_leaves_the_pool_consistent():
    pool = pool_of(4)
    pool.allocate(3)
    pool.free([1])
    with pytest.raises(ValueError, match="block 1: nobody"):
        pool.free([1])
    with pytest.raises(ValueError, match="block 1: nobody"):
        pool.free([0, 1, 2])
    pool.check()
    # What came before the bad block is free, what came after is still held.
    assert [pool.ref_count(block) for block in range(4)] == [0, 0, 1, 0]
    assert pool.num_free == 3


def test_freeing_a_block_twice_in_one_call_raises_and_frees_it_once():
    pool = pool_of(4)
    pool.allocate(1)
    with pytest.raises(ValueError, match="block 0"):
        pool.free([0, 0])
    pool.check()
    assert pool.num_free == 4


@pytest.mark.parametrize(
    ("free", "ref_counts"),
    [
        ([3], [1, 1, 0, 0]),  # a block lost: nobody holds it, it is not free
        ([1, 2, 3], [1, 1, 0, 0]),  # a block free and held
        ([2, 2, 3], [1, 1, 0, 0]),  # a block free twice
        ([2, 3, 4], [1, 1, 0, 0]),  # a block of no pool
        ([2, 3], [1, -1, 0, 0]),  # held less than never
    ],
    ids=["lost", "free-and-held", "free-twice", "out-of-range", "negative"],
)
def test_check_catches_corruption(free, ref_counts):
    pool = pool_of(4)
    pool.allocate(2)
    pool.check()
    pool._free = Ascending(free)
    pool._ref_counts[:] = ref_counts
    with pytest.raises(AssertionError):
        pool.check()


@pytest.mark.parametrize("order", FREE_ORDERS)
@given(data=st.data())
def test_counts_follow_the_holders_whatever_happens(order, data):
    size = data.draw(st.integers(1, 10))
    pool = BlockPool(size, FREE_ORDERS[order](range(size), Rng(1)))
    holders: list[list[int]] = []
    for _ in range(data.draw(st.integers(0, 25))):
        action = data.draw(st.sampled_from(["allocate", "share", "free"]))
        if action == "allocate":
            wanted = data.draw(st.integers(0, size + 1))
            fits = wanted <= pool.num_free
            blocks = pool.allocate(wanted)
            assert (blocks is not None) == fits
            if blocks is not None:
                assert len(set(blocks)) == wanted
                holders.append(blocks)
        elif holders:
            blocks = data.draw(st.sampled_from(holders))
            if action == "share":
                pool.share(blocks)
                holders.append(list(blocks))
            else:
                holders.remove(blocks)
                last = [b for b in blocks if not any(b in other for other in holders)]
                assert pool.free(blocks) == last
        pool.check()
        assert [pool.ref_count(b) for b in range(size)] == [sum(b in h for h in holders) for b in range(size)]
