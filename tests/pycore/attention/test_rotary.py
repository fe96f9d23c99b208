import numpy as np
import pytest

from pycore.attention.rotary import rotate
from pycore.attention.weights import integers
from pycore.rng import Rng


def vector(name: str) -> np.ndarray:
    return integers(Rng(3).fork(name), 1, 1, 8) / 2


def product(query_at: int, key_at: int) -> float:
    query = rotate(vector("query"), np.array([query_at]))
    key = rotate(vector("key"), np.array([key_at]))
    return float((query * key).sum())


@pytest.mark.parametrize("shift", [1, 7, 1000])
@pytest.mark.parametrize("distance", [0, 1, 5])
def test_the_product_of_query_and_key_depends_on_their_distance_alone(shift, distance):
    assert product(distance + shift, shift) == pytest.approx(product(distance, 0), abs=1e-9)


def test_another_distance_gives_another_product():
    assert abs(product(1, 0) - product(2, 0)) > 0.01


def test_position_zero_turns_nothing_and_lengths_stay():
    heads = integers(Rng(3).fork("heads"), 4, 2, 8) / 2
    np.testing.assert_array_equal(rotate(heads, np.zeros(4, int)), heads)
    turned = rotate(heads, np.arange(4) * 100)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(heads, axis=-1))
