import json

import numpy as np
import pytest

from pycore.attention.paged_store import PagedStore
from pycore.attention.trace import QueryTap, trace_query
from pycore.attention.transformer import Transformer
from pycore.request import Sequence
from tests.pycore.attention.serving import iterate, job, paged_allocator, paged_store

MODEL = Transformer()


class QueryAndAnswerTap(QueryTap):
    """Keeps the newest token's attention output (num_heads, head_dim) too."""

    def __init__(self, store: PagedStore) -> None:
        super().__init__(store)
        self.answers: dict[tuple[int, int], np.ndarray] = {}

    def attend(self, layer: int, seq: Sequence, queries: np.ndarray) -> np.ndarray:
        attended = super().attend(layer, seq, queries)
        self.answers[layer, seq.id] = attended[-1]
        return attended


@pytest.fixture(scope="module")
def traced():
    """A sequence of 23 tokens in shuffled blocks of 4, and what its last token asked in each layer."""
    allocator = paged_allocator(12, 4, "shuffled")
    store = paged_store(MODEL.shape, allocator, tile_blocks=2)
    tap = QueryAndAnswerTap(store)
    one = job(1, prompt_len=20, output_len=8)
    for _ in range(4):
        iterate(MODEL, tap, allocator, [one])
    return allocator, store, tap, one.seq


@pytest.mark.parametrize("head", range(4))
@pytest.mark.parametrize("layer", range(2))
def test_the_trace_ends_in_the_dense_weights_and_output(traced, layer, head):
    _, store, tap, seq = traced
    trace = trace_query(store, layer, seq, tap.last_query(layer, seq), head)
    assert trace["length"] == len(trace["weights"]) == 23
    assert sum(trace["weights"]) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(trace["weights"], trace["dense_weights"], atol=1e-6)
    np.testing.assert_allclose(trace["output"], trace["dense_output"], atol=2e-6)


@pytest.mark.parametrize("head", range(4))
def test_the_traced_head_is_the_one_that_attend_computes(traced, head):
    _, store, tap, seq = traced
    trace = trace_query(store, 1, seq, tap.last_query(1, seq), head)
    np.testing.assert_allclose(trace["output"], tap.answers[1, seq.id][head], rtol=0, atol=1e-6)


def test_the_steps_follow_the_block_table_and_add_up(traced):
    allocator, store, tap, seq = traced
    trace = trace_query(store, 0, seq, tap.last_query(0, seq), head=3)
    assert trace["kv_head"] == 1
    tiles = trace["tiles"]
    assert [block for tile in tiles for block in tile["blocks"]] == list(allocator.block_table(seq))
    assert [tile["first"] for tile in tiles] == [0, 8, 16]
    assert [len(tile["scores"]) for tile in tiles] == [8, 8, 7]
    total, maximum = 0.0, float("-inf")
    for tile in tiles:
        before, maximum = maximum, max(maximum, *tile["scores"])
        assert tile["maximum"] == maximum
        assert tile["rescale"] == pytest.approx(np.exp(before - maximum), abs=1e-6)
        total = total * tile["rescale"] + sum(tile["weights"])
        assert tile["total"] == pytest.approx(total, rel=1e-5)
    assert tiles[-1]["output"] == trace["output"]


def test_the_trace_is_plain_data_that_every_json_reader_takes(traced):
    _, store, tap, seq = traced
    trace = trace_query(store, 0, seq, tap.last_query(0, seq), head=0)
    assert json.loads(json.dumps(trace, allow_nan=False)) == trace


def test_a_layer_in_which_nobody_asked_has_no_query(traced):
    with pytest.raises(KeyError):
        traced[2].last_query(5, traced[3])
