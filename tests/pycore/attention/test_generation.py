"""Tokens that must come out everywhere: CPython or Pyodide, whichever library multiplies the matrices."""

import pytest

from pycore.attention.dense_store import DenseStore
from pycore.attention.generation import decode, generate, make_prompt
from pycore.attention.paged_store import PagedStore
from pycore.attention.sampling import margin, sample
from pycore.attention.transformer import Transformer
from pycore.rng import Rng

MODEL = Transformer()
PROMPT = make_prompt(Rng(0).fork("prompt"), 12, MODEL.shape.vocab_size)


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split()]


GREEDY = numbers(
    "10 29 18 10 27 10 29 18 34 24 10 29 49 25 10 52 52 52 29 49 55 27 37 63 18 40 14 52 63 10 29 10"
)
SAMPLED = numbers(
    "62 37 14 46 10 60 39 36 19 38 53 24 9 60 39 29 45 16 18 39 53 44 29 61 53 10 54 61 11 39 15 19"
)


def paged() -> PagedStore:
    return PagedStore(MODEL.shape, 11, 4, lambda _: (3, 8, 1, 10, 0, 7, 2, 9, 5, 4, 6), tile_blocks=2)


@pytest.mark.parametrize("store", [lambda: DenseStore(MODEL.shape, 43), paged], ids=["dense", "paged"])
def test_greedy_and_sampled_tokens_are_these(store):
    assert generate(MODEL, store(), PROMPT, 32) == GREEDY
    rng = Rng(0).fork("sampling")
    assert generate(MODEL, store(), PROMPT, 32, lambda logits: sample(logits, 1.0, rng)) == SAMPLED


def test_the_greedy_run_has_a_margin_a_thousand_times_the_noise():
    assert min(margin(logits) for _, logits in decode(MODEL, paged(), PROMPT, 32)) > 1000 * 2.6e-6
