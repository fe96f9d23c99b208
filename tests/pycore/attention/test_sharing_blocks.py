"""Copy-on-write, swapping, and what happens when a reference count is wrong."""

import numpy as np
import pytest

from pycore.attention.block_arrays import BlockArrays
from pycore.attention.dense_store import DenseStore
from pycore.attention.paged_store import PagedStore
from pycore.attention.sampling import greedy
from pycore.attention.transformer import Transformer
from pycore.memory.move import Move
from pycore.request import Request, Sequence
from tests.pycore.attention.serving import MAX_LEN, alone, grow, iterate, job, paged_allocator, paged_store

MODEL = Transformer()


def seq(seq_id: int) -> Sequence:
    return Sequence(Request(seq_id, 0, 1, 1))


def continuation(store, one: Sequence, token: int, count: int) -> list[int]:
    """`count` greedy tokens after feeding `token`."""
    tokens = []
    for _ in range(count):
        (logits,) = MODEL.forward([(one, [token])], store)
        token = greedy(logits)
        tokens.append(token)
    return tokens


def test_parent_and_fork_go_on_from_scattered_blocks_as_from_private_copies():
    tables = {0: (5, 2), 1: (5, 2)}
    store = PagedStore(MODEL.shape, 8, 4, lambda one: tables[one.id])
    dense = DenseStore(MODEL.shape, MAX_LEN)
    prompt = [3, 1, 4, 1, 5, 9]
    for each in (store, dense):
        MODEL.forward([(seq(0), prompt)], each)
        each.fork(seq(0), seq(1))
    store.carry_out([Move("copy", 2, 7)])  # the block that holds the prompt's last two tokens
    tables[1] = (5, 7, 6)
    tables[0] = (5, 2, 0)
    for one, token in ((seq(0), 10), (seq(1), 20)):
        assert continuation(store, one, token, 5) == continuation(dense, one, token, 5)


def test_a_forks_logits_are_those_of_computing_its_tokens_from_the_start():
    tables = {0: (5, 2), 1: (5, 7)}
    store = PagedStore(MODEL.shape, 8, 4, lambda one: tables[one.id])
    MODEL.forward([(seq(0), [3, 1, 4, 1, 5, 9])], store)
    store.fork(seq(0), seq(1))
    store.carry_out([Move("copy", 2, 7)])
    both = MODEL.forward([(seq(0), [10]), (seq(1), [20])], store)
    for last, logits in zip((10, 20), both, strict=True):
        fresh = DenseStore(MODEL.shape, MAX_LEN)
        (expected,) = MODEL.forward([(seq(0), [3, 1, 4, 1, 5, 9, last])], fresh)
        np.testing.assert_allclose(logits, expected, rtol=0, atol=5e-6)


def test_without_the_copy_the_fork_writes_over_its_parents_token():
    tables = {0: (5, 2), 1: (5, 2)}
    store = PagedStore(MODEL.shape, 8, 4, lambda one: tables[one.id])
    MODEL.forward([(seq(0), [3, 1, 4, 1, 5, 9])], store)
    store.fork(seq(0), seq(1))
    MODEL.forward([(seq(0), [10])], store)
    before = store.blocks.keys[:, 2, 2].copy()
    MODEL.forward([(seq(1), [20])], store)
    assert not np.allclose(store.blocks.keys[:, 2, 2], before)


def test_copies_are_carried_out_one_after_the_other():
    arrays = BlockArrays(MODEL.shape, 4, 2)
    arrays.keys[:] = np.arange(4)[None, :, None, None, None]
    arrays.copy_from(arrays, [(0, 1), (1, 2)])
    assert arrays.keys[0, :, 0, 0, 0].tolist() == [0, 0, 0, 3]


def test_a_block_number_past_the_end_is_refused():
    arrays = BlockArrays(MODEL.shape, 4, 2)
    with pytest.raises(IndexError):
        arrays.copy_from(arrays, [(0, 4)])


def test_a_copy_covers_every_layer_and_keys_and_values():
    store = PagedStore(MODEL.shape, 4, 4, lambda _: (1,))
    MODEL.forward([(seq(0), [1, 2, 3])], store)
    store.carry_out([Move("copy", 1, 3)])
    np.testing.assert_array_equal(store.blocks.keys[:, 3], store.blocks.keys[:, 1])
    np.testing.assert_array_equal(store.blocks.values[:, 3], store.blocks.values[:, 1])
    assert store.blocks.values[:, 3].any(axis=(1, 2, 3)).all()


def test_a_sequence_swapped_out_and_into_other_blocks_goes_on_as_if_nothing_had_happened():
    allocator = paged_allocator(6, 4)
    store = paged_store(MODEL.shape, allocator, num_cpu_blocks=3)
    one, other = job(1, prompt_len=9, output_len=12), job(2, prompt_len=14, output_len=2)
    for _ in range(2):
        iterate(MODEL, store, allocator, [one])
    old = allocator.block_table(one.seq)
    store.carry_out([Move("out", *pair) for pair in zip(old, (2, 0, 1), strict=True)])
    allocator.free(one.seq)
    for _ in range(2):
        iterate(MODEL, store, allocator, [other])  # writes over the freed blocks
    assert set(allocator.block_table(other.seq)) & set(old)
    assert not allocator.allocate_slots(one.seq, 1)
    allocator.free(other.seq)
    allocator.pool.allocate(2)  # so that it comes back elsewhere
    grow(allocator, one)
    new = allocator.block_table(one.seq)
    assert new[:3] != old
    store.carry_out([Move("in", *pair) for pair in zip((2, 0, 1), new[:3], strict=True)])
    while len(one.tokens) < 8:
        iterate(MODEL, store, allocator, [one])
    assert one.tokens == alone(MODEL, one)[0][:8]


def test_the_swap_space_is_bounded():
    store = PagedStore(MODEL.shape, 4, 4, lambda _: (1,))
    with pytest.raises(IndexError):
        store.carry_out([Move("out", 0, 0)])


def test_a_block_freed_once_too_often_lets_another_requests_keys_into_the_attention():
    """The lesson of the reference count: nothing fails, the answer is simply another one."""
    allocator = paged_allocator(8, 4, "lifo")
    store = paged_store(MODEL.shape, allocator)
    victim, thief = job(1, prompt_len=10, output_len=12), job(2, prompt_len=7, output_len=2)
    iterate(MODEL, store, allocator, [victim])
    stolen = allocator.block_table(victim.seq)[0]
    allocator.pool.free([stolen])  # the bug: the victim's table still names it
    iterate(MODEL, store, allocator, [thief])
    assert stolen in allocator.block_table(thief.seq)
    while len(victim.tokens) < 12:
        iterate(MODEL, store, allocator, [victim])
    expected, logits = alone(MODEL, victim)
    assert victim.tokens[0] == expected[0], "computed before the theft"
    assert victim.tokens != expected
    assert np.abs(victim.logits[1] - logits[1]).max() > 0.01
    with pytest.raises(AssertionError, match=f"block {stolen}: 2 tables hold it, its reference count is 1"):
        allocator.check()
