"""The ShareGPT-like load, and lengths with a heavy tail."""

from statistics import mean, median

import pytest

from pycore.workload.synthetic import lognormal_lengths, sharegpt_like


def test_lengths_stay_inside_their_bounds_and_arrivals_in_order():
    load = sharegpt_like(5, 3000, rate=4)
    assert load.max_len == 2048
    assert all(4 <= each.prompt_len <= 1024 for each in load.requests)
    assert max(each.total_len for each in load.requests) == 2048
    arrivals = [each.arrival_ns for each in load.requests]
    assert arrivals == sorted(arrivals)
    assert arrivals[0] == 0
    assert [each.id for each in load.requests] == list(range(3000))


def test_means_and_rate_are_near_what_was_asked_less_the_clipping():
    requests = sharegpt_like(5, 3000, rate=4).requests
    assert mean(each.prompt_len for each in requests) == pytest.approx(161, rel=0.1)
    assert mean(each.output_len for each in requests) == pytest.approx(338, rel=0.1)
    assert len(requests) * 1e9 / requests[-1].arrival_ns == pytest.approx(4, rel=0.05)


def test_twice_the_rate_is_the_same_requests_in_half_the_time():
    slow, fast = (sharegpt_like(5, 100, rate).requests for rate in (4, 8))
    assert [each.total_len for each in slow] == [each.total_len for each in fast]
    assert slow[-1].arrival_ns == pytest.approx(2 * fast[-1].arrival_ns, abs=200)


def test_a_seed_fixes_the_load():
    assert sharegpt_like(1, 50, 4) == sharegpt_like(1, 50, 4) != sharegpt_like(2, 50, 4)


def test_lognormal_lengths_have_their_mean_above_their_median():
    lengths = lognormal_lengths(5, 20_000, mean=313, sigma=0.8)
    assert min(lengths) >= 1
    assert mean(lengths) == pytest.approx(313, rel=0.02)
    assert median(lengths) == pytest.approx(313 * 0.726, rel=0.03)  # e^(−σ²/2) = 0.726
