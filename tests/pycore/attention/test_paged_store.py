import tracemalloc

import numpy as np
import pytest

from pycore.attention.dense_store import DenseStore
from pycore.attention.paged_store import PagedStore
from pycore.attention.transformer import Transformer
from pycore.attention.weights import TransformerShape, integers
from pycore.request import Request, Sequence
from pycore.rng import Rng
from tests.pycore.attention.serving import MAX_LEN, alone, grow, iterate, job, paged_allocator, paged_store

MODEL = Transformer()
BLOCK_SIZES = [1, 4, 16]
ORDERS = ["ascending", "shuffled"]


def numbers(name: str, *dims: int) -> np.ndarray:
    return (integers(Rng(1).fork(name), *dims) / 4).astype(np.float32)


@pytest.mark.parametrize("tile_blocks", [1, 3, None])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_logits_from_scattered_blocks_are_the_dense_ones_to_rounding(block_size, order, tile_blocks):
    allocator = paged_allocator(MAX_LEN // block_size, block_size, order)
    store = paged_store(MODEL.shape, allocator, tile_blocks)
    one = job(1, prompt_len=37, output_len=40)
    for _ in range(40):
        iterate(MODEL, store, allocator, [one])
    tokens, logits = alone(MODEL, one)
    assert one.tokens == tokens
    np.testing.assert_allclose(one.logits, logits, rtol=0, atol=5e-6)


def test_in_double_precision_the_difference_is_a_billion_times_smaller():
    model = Transformer(TransformerShape(dtype="float64"))
    allocator = paged_allocator(32, 4, "shuffled")
    one = job(1, prompt_len=37, output_len=40)
    store = paged_store(model.shape, allocator)
    for _ in range(40):
        iterate(model, store, allocator, [one])
    np.testing.assert_allclose(one.logits, alone(model, one)[1], rtol=0, atol=1e-13)


@pytest.mark.parametrize("tokens", [1, 5, 23])
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_tiles_give_what_gathering_all_keys_gives(block_size, tokens):
    allocator = paged_allocator(MAX_LEN // block_size, block_size, "shuffled")
    store = paged_store(MODEL.shape, allocator)
    one = job(0, prompt_len=23 + 30, output_len=1)
    grow(allocator, one)
    for layer in range(2):
        store.write(layer, one.seq, numbers(f"keys {layer}", 53, 2, 8), numbers(f"values {layer}", 53, 2, 8))
    store.advance(one.seq, 53 - tokens)
    queries = numbers("queries", tokens, 4, 8)
    for layer in range(2):
        np.testing.assert_allclose(
            store.attend(layer, one.seq, queries),
            store.attend_gathered(layer, one.seq, queries),
            rtol=0,
            atol=2e-6,
        )


def test_a_token_lies_in_the_block_and_slot_that_its_table_names():
    allocator = paged_allocator(8, 4, "shuffled")
    store = paged_store(MODEL.shape, allocator)
    one = job(0, prompt_len=10, output_len=1)
    grow(allocator, one)
    keys = numbers("keys", 10, 2, 8)
    store.write(1, one.seq, keys, keys)
    table = allocator.block_table(one.seq)
    assert list(table) != sorted(table)
    for position in range(10):
        stored = store.blocks.keys[1, table[position // 4], position % 4]
        np.testing.assert_array_equal(stored, keys[position])
    assert np.isnan(store.blocks.keys[0]).all()


def peak_of_attend(length: int) -> int:
    """Bytes that one decode query over `length` tokens allocates at most."""
    num_blocks = length // 16
    table = tuple(range(num_blocks))[::-1]
    shape = TransformerShape(num_layers=1, head_dim=64)
    store = PagedStore(shape, num_blocks, 16, lambda _: table, tile_blocks=4)
    seq = Sequence(Request(0, 0, length, 1))
    store.advance(seq, length - 1)
    query = numbers("query", 1, 4, 64)
    store.attend(0, seq, query)  # the table's array is kept from here on
    tracemalloc.start()
    try:
        store.attend(0, seq, query)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_working_memory_is_that_of_a_tile_whatever_the_context():
    tile_bytes = 2 * 4 * 16 * 2 * 64 * 4  # keys and values of 4 blocks × 16 slots × 2 KV heads × 64 × float32
    short, long = peak_of_attend(1024), peak_of_attend(16 * 1024)
    assert long < 1.1 * short
    assert tile_bytes <= long < 3 * tile_bytes
    assert long < 16 * 1024 * 2 * 64 * 4 / 20, "a twentieth of one gathered copy of the keys"


def test_a_table_that_grew_or_moved_is_read_anew():
    shape = MODEL.shape
    table: list[int] = [3]
    store = PagedStore(shape, 4, 4, lambda _: table)
    seq = Sequence(Request(0, 0, 5, 1))
    keys = numbers("keys", 5, 2, 8)
    store.write(0, seq, keys[:4], keys[:4])
    store.advance(seq, 4)
    table.append(0)
    store.write(0, seq, keys[4:], keys[4:])
    np.testing.assert_array_equal(store.blocks.keys[0, 0, 0], keys[4])


def test_a_table_too_short_for_the_tokens_is_refused():
    store = PagedStore(MODEL.shape, 4, 4, lambda _: (2,))
    with pytest.raises(ValueError, match="r9: 5 tokens need 2 blocks, its table has 1"):
        MODEL.forward([(Sequence(Request(9, 0, 5, 1)), [1, 2, 3, 4, 5])], store)


def test_a_tile_of_no_blocks_is_refused():
    with pytest.raises(ValueError, match="at least 1 block"):
        PagedStore(MODEL.shape, 4, 4, lambda _: (), tile_blocks=0)


def test_a_finished_sequence_is_forgotten_and_its_id_starts_anew():
    for store in (DenseStore(MODEL.shape, 8), PagedStore(MODEL.shape, 2, 4, lambda _: (0, 1))):
        seq = Sequence(Request(0, 0, 2, 1))
        MODEL.forward([(seq, [1, 2])], store)
        assert store.length(seq) == 2
        store.forget(seq)
        assert store.length(seq) == 0
