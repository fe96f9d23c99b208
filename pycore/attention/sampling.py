"""From logits to the next token, in integers.

float32 sums differ in their last bits between processors, BLAS libraries and the order in which tiles are
merged, so logits are first rounded to a grid; from there on all is integer arithmetic and ties break by token
id. That makes equal logits equal again, and scores that can be added exactly. What no rounding can do is
decide between two tokens whose logits differ by less than the noise: `margin` tells how far a choice was from
that, and the tests hold it far above the noise for the runs that are compared between platforms.
"""

from math import exp, fsum, log

import numpy as np

from pycore.rng import Rng

GRID = 1024  # steps a unit of logit; rounding noise in float32 is about 1/400 of a step
_WEIGHT_UNIT = 1 << 30  # integer weight of the most likely token when sampling


def on_grid(logits: np.ndarray) -> list[int]:
    """Logits (vocab_size,) as integers, GRID steps a unit.

    Raises:
        ValueError: a logit is not finite.

    >>> on_grid(np.array([0.5, -1.0]))
    [512, -1024]
    """
    if not np.isfinite(logits).all():
        raise ValueError("a logit is not finite: keys or values were read that nobody wrote")
    return np.rint(np.asarray(logits, np.float64) * GRID).astype(np.int64).tolist()


def greedy(logits: np.ndarray) -> int:
    """The most likely token of logits (vocab_size,); the lowest id of equals.

    >>> greedy(np.array([1.0, 3.0, 3.0]))
    1
    """
    steps = on_grid(logits)
    return steps.index(max(steps))


def margin(logits: np.ndarray) -> float:
    """By how much the best of logits (vocab_size,) leads the second, in logits; inf for a single token."""
    if len(logits) < 2:
        return float("inf")
    second, best = np.partition(logits, -2)[-2:]
    return float(best - second)


def sample(logits: np.ndarray, temperature: float, rng: Rng) -> int:
    """Draws a token with probability softmax(logits / temperature), by integer weights.

    Args:
        logits: (vocab_size,).
        temperature: above 0; small is close to greedy.
        rng: gives exactly one number.

    Raises:
        ValueError: a temperature that is not above 0.
    """
    if not temperature > 0:
        raise ValueError(f"temperature {temperature}: expected above 0 (greedy is a function of its own)")
    steps = on_grid(logits)
    best = max(steps)
    weights = [round(exp((step - best) / (GRID * temperature)) * _WEIGHT_UNIT) for step in steps]
    drawn = rng.randrange(sum(weights))
    for token, weight in enumerate(weights):
        drawn -= weight
        if drawn < 0:
            return token
    raise AssertionError("a number below the sum of the weights lies within one of them")


def top_log_probs(logits: np.ndarray, k: int) -> list[tuple[int, int]]:
    """The `k` most likely tokens with their log-probabilities, for beam search.

    Args:
        logits: (vocab_size,).
        k: at least 1; more than the vocabulary gives the whole vocabulary.

    Returns:
        (token, log-probability in steps of 1 / GRID) pairs, most likely first, ties by id: integers, so a
        beam's score is an exact sum.

    Raises:
        ValueError: k below 1.

    >>> top_log_probs(np.array([0.0, 0.0]), 2)  # −710 / 1024 = log 0.5
    [(0, -710), (1, -710)]
    """
    if k < 1:
        raise ValueError(f"the {k} most likely tokens: expected at least 1")
    steps = on_grid(logits)
    best = max(steps)
    log_sum = best + round(GRID * log(fsum(exp((step - best) / GRID) for step in steps)))
    order = sorted(range(len(steps)), key=lambda token: (-steps[token], token))
    return [(token, steps[token] - log_sum) for token in order[:k]]
