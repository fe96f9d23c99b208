from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.attention.online_softmax import OnlineSoftmax, softmax

SCORES = st.one_of(
    st.floats(-20, 20, width=32),
    st.sampled_from([-np.inf, -1e30, 1e30, -88.0, 88.0, 0.0]),
)


@st.composite
def rows_in_pieces(draw):
    """(rows, keys) scores, (keys, 3) values, and where to cut the keys."""
    keys, rows = draw(st.integers(1, 24)), draw(st.integers(1, 3))
    scores = draw(st.lists(st.lists(SCORES, min_size=keys, max_size=keys), min_size=rows, max_size=rows))
    cuts = draw(st.sets(st.integers(1, keys - 1))) if keys > 1 else set()
    values = np.arange(3 * keys, dtype=np.float32).reshape(keys, 3) % 7 - 3
    return np.array(scores, np.float32), values, sorted(cuts)


def merge(scores: np.ndarray, values: np.ndarray, cuts: list[int]) -> OnlineSoftmax:
    merged = OnlineSoftmax((len(scores), values.shape[1]), scores.dtype)
    edges = [0, *cuts, scores.shape[1]]
    for start, end in pairwise(edges):
        merged.update(scores[:, start:end].copy(), values[start:end])
    return merged


@given(rows_in_pieces())
def test_pieces_merge_to_the_plain_softmax(case):
    scores, values, cuts = case
    with np.errstate(all="raise", under="ignore"):
        merged = merge(scores, values, cuts)
        np.testing.assert_allclose(merged.result(), softmax(scores) @ values, rtol=0, atol=1e-5)


@given(rows_in_pieces())
def test_the_plain_softmax_is_the_textbook_formula_in_double_precision(case):
    scores, _, _ = case
    weights = softmax(scores)
    for row, got in zip(scores.astype(np.float64), weights, strict=True):
        if np.all(row == -np.inf):
            assert not got.any()
        else:
            exponentials = np.exp(row - row.max())
            np.testing.assert_allclose(got, exponentials / exponentials.sum(), atol=1e-6)


def test_a_masked_prefix_leaves_no_trace():
    scores = np.array([[-np.inf] * 4 + [1.0, 2.0]], np.float32)
    values = np.array([[9.0]] * 4 + [[1.0], [2.0]], np.float32)
    np.testing.assert_array_equal(
        merge(scores, values, [2, 4]).result(), merge(scores[:, 4:], values[4:], []).result()
    )


def test_a_row_that_may_look_nowhere_gives_zeros():
    scores = np.full((1, 3), -np.inf, np.float32)
    assert merge(scores, np.ones((3, 2), np.float32), [1]).result().tolist() == [[0.0, 0.0]]


def test_one_key_gives_its_value():
    assert merge(np.array([[-50.0]], np.float32), np.array([[4.0]], np.float32), []).result() == 4.0


def test_the_running_maximum_and_sum_follow_the_pieces():
    merged = OnlineSoftmax((1, 1), "float64")
    values = np.ones((2, 1))
    merged.update(np.array([[0.0, 1.0]]), values)
    assert merged.maximum[0] == 1
    assert merged.total[0] == pytest.approx(1 + np.exp(-1))
    merged.update(np.array([[3.0, 3.0]]), values)
    assert merged.maximum[0] == 3
    assert merged.rescale[0] == pytest.approx(np.exp(-2))
    assert merged.total[0] == pytest.approx(2 + np.exp(-2) + np.exp(-3))
