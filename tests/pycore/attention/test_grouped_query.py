import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.attention.grouped_query import attend_at_once, group, ungroup
from pycore.attention.weights import integers
from pycore.rng import Rng


def numbers(name: str, *dims: int) -> np.ndarray:
    return integers(Rng(1).fork(name), *dims) / 4


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4))
def test_ungroup_undoes_group(tokens, kv_heads, group_size):
    queries = numbers("queries", tokens, kv_heads * group_size, 4)
    np.testing.assert_array_equal(ungroup(group(queries, kv_heads) * 2, tokens), queries)  # 2 = √head_dim


@pytest.mark.parametrize("tokens", [1, 3])
def test_sharing_a_kv_head_equals_repeating_it(tokens):
    queries = numbers("queries", tokens, 6, 8)
    keys, values = numbers("keys", 9, 2, 8), numbers("values", 9, 2, 8)
    repeated = [np.repeat(array, 3, axis=1) for array in (keys, values)]
    np.testing.assert_allclose(
        attend_at_once(queries, keys, values), attend_at_once(queries, *repeated), rtol=0, atol=1e-12
    )


def test_each_query_sees_its_own_position_and_the_past_only():
    queries, keys, values = numbers("q", 3, 2, 4), numbers("k", 5, 1, 4), numbers("v", 5, 1, 4)
    outputs = attend_at_once(queries, keys, values)
    for at in range(3):
        seen = 5 - 3 + at + 1
        by_itself = attend_at_once(queries[[at]], keys[:seen], values[:seen])
        np.testing.assert_allclose(outputs[[at]], by_itself, rtol=0, atol=1e-12)
