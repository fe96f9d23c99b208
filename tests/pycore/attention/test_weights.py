from dataclasses import fields
from hashlib import blake2b

import numpy as np
import pytest

from pycore.attention.weights import TransformerShape, Weights, integers, make_weights
from pycore.rng import Rng


def arrays(weights: Weights) -> list[np.ndarray]:
    layers = [getattr(layer, field.name) for layer in weights.layers for field in fields(layer)]
    return [weights.embedding, *layers, weights.norm, weights.head]


def test_the_weights_are_these_very_numbers_everywhere():
    digest = blake2b(digest_size=8)
    for array in arrays(make_weights(TransformerShape())):
        digest.update(array.astype("<f8").tobytes())
    assert digest.hexdigest() == "8e602cec5a77bd6b"


def test_single_precision_holds_the_weights_exactly():
    double = arrays(make_weights(TransformerShape(dtype="float64")))
    for single, exact in zip(arrays(make_weights(TransformerShape())), double, strict=True):
        assert single.dtype == np.float32
        np.testing.assert_array_equal(single, exact)


def test_integers_are_bell_shaped_around_zero():
    drawn = integers(Rng(0), 10_000)
    assert abs(drawn.mean()) < 0.1
    assert drawn.std() == pytest.approx(2, rel=0.05)
    assert np.abs(drawn).max() <= 8


def test_another_seed_gives_other_weights():
    assert not np.array_equal(
        make_weights(TransformerShape(), 1).head, make_weights(TransformerShape(), 2).head
    )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"num_layers": 0}, "at least 1"),
        ({"head_dim": 7}, "even"),
        ({"num_heads": 4, "num_kv_heads": 3}, "do not group"),
        ({"dtype": "float16"}, "float16"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(wrong, told):
    with pytest.raises(ValueError, match=told):
        TransformerShape(**wrong)
