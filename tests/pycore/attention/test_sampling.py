import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.attention.sampling import GRID, greedy, margin, on_grid, sample, top_log_probs
from pycore.attention.weights import integers
from pycore.rng import Rng

LOGITS = (integers(Rng(2), 16) / 4).astype(np.float32)


def test_equal_logits_that_rounding_parted_are_a_tie_again_and_the_lower_id_wins():
    assert greedy(np.array([0.1, 2.0 - 1e-6, 2.0 + 1e-6], np.float32)) == 1


@given(st.integers(0, 1000))
def test_rounding_noise_changes_no_choice_whose_margin_is_larger(seed):
    logits = integers(Rng(seed), 64).astype(np.float32) / 7
    noise = integers(Rng(seed).fork("noise"), 64) * np.float32(2e-6 / 8)
    if margin(logits) > 2 / GRID:
        assert greedy(logits + noise) == greedy(logits)


def test_margin_is_the_lead_of_the_best():
    assert margin(np.array([1.0, 4.0, 3.5])) == 0.5
    assert margin(np.array([1.0])) == float("inf")


def test_a_logit_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="not finite"):
        greedy(np.array([0.0, np.nan]))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_samples_follow_the_softmax(temperature):
    rng = Rng(4).fork("sampling")
    counts = np.bincount([sample(LOGITS, temperature, rng) for _ in range(5_000)], minlength=16)
    expected = np.exp(LOGITS.astype(np.float64) / temperature)
    np.testing.assert_allclose(counts / 5_000, expected / expected.sum(), atol=0.02)


def test_a_sample_takes_one_number_from_the_stream():
    class Counting(Rng):
        drawn = 0

        def randrange(self, start: int, stop: int | None = None) -> int:
            self.drawn += 1
            return super().randrange(start, stop)

    rng = Counting(4)
    for expected in range(1, 4):
        sample(LOGITS, 1.0, rng)
        assert rng.drawn == expected


def test_a_low_temperature_is_greedy():
    assert {sample(LOGITS, 0.001, Rng(seed)) for seed in range(50)} == {greedy(LOGITS)}


@pytest.mark.parametrize("temperature", [0, -1, float("nan")])
def test_a_temperature_not_above_zero_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature"):
        sample(LOGITS, temperature, Rng(0))


def test_log_probabilities_are_those_of_the_softmax_and_come_in_order():
    pairs = top_log_probs(LOGITS, 16)
    probabilities = np.exp(LOGITS.astype(np.float64))
    probabilities /= probabilities.sum()
    assert [log for _, log in pairs] == sorted((log for _, log in pairs), reverse=True)
    assert {token for token, _ in pairs} == set(range(16))
    for token, log in pairs:
        assert log / GRID == pytest.approx(np.log(probabilities[token]), abs=1 / GRID)


def test_equal_log_probabilities_come_by_token_id():
    pairs = top_log_probs(np.array([1.0, 2.0, 2.0, 1.0]), 4)
    assert [token for token, _ in pairs] == [1, 2, 0, 3]


def test_more_tokens_than_the_vocabulary_are_the_vocabulary_and_none_is_refused():
    assert len(top_log_probs(LOGITS, 99)) == 16
    with pytest.raises(ValueError, match="at least 1"):
        top_log_probs(LOGITS, 0)


def test_the_grid_is_symmetric_around_zero():
    assert on_grid(LOGITS) == [-step for step in on_grid(-LOGITS)]
