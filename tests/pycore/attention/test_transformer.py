"""The forward pass against a second one, written with loops in plain Python; and against itself."""

from math import cos, exp, sin, sqrt

import numpy as np
import pytest

from pycore.attention.dense_store import DenseStore
from pycore.attention.generation import make_prompt
from pycore.attention.transformer import Transformer
from pycore.attention.weights import TransformerShape, make_weights
from pycore.request import Request, Sequence
from pycore.rng import Rng
from tests.pycore.attention.serving import MAX_LEN, alone, job

MODEL = Transformer()


def seq(seq_id: int = 0) -> Sequence:
    return Sequence(Request(seq_id, 0, 1, 1))


def prompt(num_tokens: int) -> list[int]:
    return make_prompt(Rng(11), num_tokens, MODEL.shape.vocab_size)


def times(vector: list[float], matrix: np.ndarray) -> list[float]:
    return [sum(x * float(w) for x, w in zip(vector, column, strict=True)) for column in matrix.T]


def norm(vector: list[float], gain: np.ndarray) -> list[float]:
    root = sqrt(sum(x * x for x in vector) / len(vector) + 2.0**-20)
    return [x / root * float(g) for x, g in zip(vector, gain, strict=True)]


def heads(vector: list[float], dim: int, position: int | None) -> list[list[float]]:
    """The heads of a projected vector, turned by `position` unless None."""
    cut = [vector[at : at + dim] for at in range(0, len(vector), dim)]
    if position is None:
        return cut
    half = dim // 2
    turned = []
    for head in cut:
        angles = [position * 10_000 ** (-i / half) for i in range(half)]
        pairs = [complex(head[i], head[i + half]) * complex(cos(a), sin(a)) for i, a in enumerate(angles)]
        turned.append([pair.real for pair in pairs] + [pair.imag for pair in pairs])
    return turned


def by_loops(shape: TransformerShape, tokens: list[int]) -> list[float]:
    """Logits after the last token, one token, head and key at a time."""
    weights = make_weights(shape)
    streams = [[float(x) for x in weights.embedding[token]] for token in tokens]
    for layer in weights.layers:
        normed = [norm(stream, layer.attention_norm) for stream in streams]
        keys = [heads(times(x, layer.key), shape.head_dim, at) for at, x in enumerate(normed)]
        values = [heads(times(x, layer.value), shape.head_dim, None) for x in normed]
        for at, x in enumerate(normed):
            attended: list[float] = []
            for h, query in enumerate(heads(times(x, layer.query), shape.head_dim, at)):
                kv_head = h * shape.num_kv_heads // shape.num_heads
                products = [
                    sum(q * k for q, k in zip(query, keys[j][kv_head], strict=True)) for j in range(at + 1)
                ]
                weight = [exp(product / sqrt(shape.head_dim)) for product in products]
                attended += [
                    sum(w * values[j][kv_head][i] for j, w in enumerate(weight)) / sum(weight)
                    for i in range(shape.head_dim)
                ]
            stream = [s + a for s, a in zip(streams[at], times(attended, layer.out), strict=True)]
            inner = norm(stream, layer.mlp_norm)
            gated = [
                gate / (1 + exp(-gate)) * up
                for gate, up in zip(times(inner, layer.gate), times(inner, layer.up), strict=True)
            ]
            streams[at] = [s + d for s, d in zip(stream, times(gated, layer.down), strict=True)]
    return times(norm(streams[-1], weights.norm), weights.head)


@pytest.mark.parametrize("num_tokens", [1, 6])
def test_the_forward_pass_is_the_one_written_with_loops(num_tokens):
    shape = TransformerShape(dtype="float64")
    tokens = prompt(num_tokens)
    (logits,) = Transformer(shape).forward([(seq(), tokens)], DenseStore(shape, MAX_LEN))
    np.testing.assert_allclose(logits, by_loops(shape, tokens), rtol=0, atol=1e-10)


@pytest.mark.parametrize("pieces", [[1] * 20, [7, 13], [19, 1], [3, 1, 1, 15]])
def test_a_prompt_in_pieces_gives_the_logits_of_the_prompt_at_once(pieces):
    tokens = prompt(20)
    whole, parts = DenseStore(MODEL.shape, MAX_LEN), DenseStore(MODEL.shape, MAX_LEN)
    (expected,) = MODEL.forward([(seq(), tokens)], whole)
    at = 0
    for piece in pieces:
        (logits,) = MODEL.forward([(seq(), tokens[at : at + piece])], parts)
        at += piece
    assert parts.length(seq()) == 20
    np.testing.assert_allclose(logits, expected, rtol=0, atol=5e-6)


def test_a_batch_gives_each_sequence_the_logits_it_has_alone():
    store = DenseStore(MODEL.shape, MAX_LEN)
    prompts = [prompt(9), prompt(1), prompt(17)[::-1]]
    together = MODEL.forward([(seq(i), tokens) for i, tokens in enumerate(prompts)], store)
    for logits, tokens in zip(together, prompts, strict=True):
        (by_itself,) = MODEL.forward([(seq(), tokens)], DenseStore(MODEL.shape, MAX_LEN))
        np.testing.assert_allclose(logits, by_itself, rtol=0, atol=5e-6)


def test_the_order_of_earlier_tokens_matters():
    first, second = (
        MODEL.forward([(seq(), tokens)], DenseStore(MODEL.shape, MAX_LEN))
        for tokens in ([1, 2, 3, 4], [2, 1, 3, 4])
    )
    assert np.abs(first - second).max() > 0.01


def test_generated_text_is_no_short_loop():
    tokens, _ = alone(MODEL, job(0, prompt_len=8, output_len=60))
    assert len(set(tokens)) > 10


@pytest.mark.parametrize(
    ("batch", "told"),
    [
        ([], "at least one sequence"),
        ([(seq(3), [])], "r3: an iteration needs at least 1 token"),
        ([(seq(3), [64])], "r3: token ids must be 0 to 63"),
        ([(seq(3), [-1])], "r3: token ids must be 0 to 63"),
        ([(seq(3), [1]), (seq(3), [2])], "twice"),
        ([(seq(3), [1] * (MAX_LEN + 1))], "r3: 129 tokens do not fit the 128"),
    ],
)
def test_a_batch_that_cannot_be_computed_is_refused(batch, told):
    with pytest.raises(ValueError, match=told):
        MODEL.forward(batch, DenseStore(MODEL.shape, MAX_LEN))
