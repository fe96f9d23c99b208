"""Requests that arrive at random."""

import pytest

from pycore.workload.lognormal import Lengths
from pycore.workload.poisson import SHAREGPT, PoissonLoad


def test_lengths_and_arrivals_are_as_asked_for():
    load = list(SHAREGPT.requests(3, 5000, rate=4))
    assert len(load) == 5000
    assert 145 < sum(each.prompt_len for each in load) / 5000 < 170
    assert 310 < sum(each.output_len for each in load) / 5000 < 345
    assert all(4 <= each.prompt_len <= 1024 and each.total_len <= 2048 for each in load)
    assert 1150 < load[-1].arrival_ns / 10**9 < 1350
    assert [each.arrival_ns for each in load] == sorted(each.arrival_ns for each in load)


def test_the_rate_only_moves_requests_closer_together():
    slow, fast = (list(SHAREGPT.requests(3, 200, rate)) for rate in (1, 2.5))
    assert [(each.prompt_len, each.output_len) for each in slow] == [
        (each.prompt_len, each.output_len) for each in fast
    ]
    assert all(
        abs(a.arrival_ns - 2.5 * b.arrival_ns) < 1000 for a, b in zip(slow, fast, strict=True)
    )  # gaps are rounded


def test_a_load_is_made_one_request_at_a_time():
    endless = PoissonLoad(Lengths(10, 0.5), Lengths(10, 0.5), 100).requests(1, 10**12, rate=1)
    assert next(endless).id == 0


@pytest.mark.parametrize("rate", [0, -1, float("nan")])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(ValueError, match="expected more than 0"):
        next(SHAREGPT.requests(1, 1, rate))
