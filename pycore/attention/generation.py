"""One sequence alone: what every batched, shared, preempted or paged run must reproduce."""

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Numbers

import numpy as np

from pycore.attention.kv_store import KVStore
from pycore.attention.sampling import greedy
from pycore.attention.transformer import Transformer
from pycore.request import Request, Sequence
from pycore.rng import Rng


def make_prompt(rng: Rng, num_tokens: int, vocab_size: int) -> list[int]:
    """`num_tokens` random token ids."""
    return [rng.randrange(vocab_size) for _ in range(num_tokens)]


def decode(
    model: Transformer, store: KVStore, prompt: Numbers[int], num_tokens: int, choose: Callable = greedy
) -> Iterator[tuple[int, np.ndarray]]:
    """Generates token by token.

    Args:
        model: the transformer.
        store: knows no sequence 0 yet, and has room for len(prompt) + num_tokens − 1 tokens of it.
        prompt: token ids, at least 1.
        num_tokens: tokens to generate, at least 1.
        choose: logits (vocab_size,) -> token id.

    Yields:
        Each token with the logits (vocab_size,) that it was chosen from.
    """
    seq = Sequence(Request(0, 0, len(prompt), num_tokens))
    tokens = list(prompt)
    for _ in range(num_tokens):
        (logits,) = model.forward([(seq, tokens)], store)
        token = choose(logits)
        yield token, logits
        tokens = [token]


def generate(
    model: Transformer, store: KVStore, prompt: Numbers[int], num_tokens: int, choose: Callable = greedy
) -> list[int]:
    """The tokens that `decode` yields.

    >>> from pycore.attention.dense_store import DenseStore
    >>> model = Transformer()
    >>> len(generate(model, DenseStore(model.shape, max_len=8), [1, 2, 3], 5))
    5
    """
    return [token for token, _ in decode(model, store, prompt, num_tokens, choose)]
