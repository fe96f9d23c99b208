"""Times of requests, what they come to, and what was promised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.latency import Latencies, Served, Slo, spread_of_counts
from pycore.metrics import spread
from pycore.request import Request

SECOND = 10**9


def done(output_len=11, ttft=SECOND, end=2 * SECOND, **counts):
    numbers = {"preemptions": 0, "num_recomputed": 0, "num_swapped": 0, **counts}
    return Served(Request(0, 5, 7, output_len), 0, ttft, end, **numbers)


def test_time_per_output_token_leaves_out_the_first():
    assert done().tpot_ns == SECOND // 10
    assert done(output_len=1).tpot_ns is None


def test_normalized_latency_is_end_to_end_over_all_output_tokens():
    assert done().normalized_ns == 2 * SECOND // 11


def test_an_slo_is_met_only_if_both_of_its_times_are():
    slo = Slo(SECOND, SECOND // 10)
    assert slo.met_by(done())
    assert not slo.met_by(done(ttft=SECOND + 1, end=2 * SECOND + 1))
    assert not slo.met_by(done(end=2 * SECOND + 1))  # by less than a nanosecond a token
    assert slo.met_by(done(output_len=1, end=SECOND))


@pytest.mark.parametrize("times", [(0, 1), (1, 0)])
def test_an_slo_of_no_time_is_refused(times):
    with pytest.raises(ValueError, match="expected at least 1 ns each"):
        Slo(*times)


def test_a_request_of_one_token_has_no_say_in_the_time_per_token():
    latencies = Latencies()
    latencies.add(done())
    latencies.add(done(output_len=1, end=SECOND))
    assert latencies.spreads()["tpot"].mean == SECOND / 10
    assert latencies.num_in_slo == 0  # nothing was promised
    assert (latencies.tokens_in, latencies.tokens_out, latencies.num_served) == (14, 12, 2)


def test_requests_that_lost_nothing_count_as_zero():
    latencies = Latencies(Slo(SECOND, SECOND))
    for preempted in (0, 0, 0, 2):
        latencies.add(done(preemptions=preempted, num_recomputed=50 * preempted))
    spreads = latencies.spreads()
    assert (spreads["preemptions"].mean, spreads["preemptions"].max) == (0.5, 2)
    assert (spreads["recomputed"].p50, spreads["recomputed"].p99) == (0, 100)
    assert spreads["swapped"] == spread([0] * 4)
    assert latencies.num_tokens_in_slo == 44


@given(st.lists(st.integers(0, 5)))
def test_a_spread_of_counts_is_the_spread_of_the_values(values):
    assert spread_of_counts({value: values.count(value) for value in set(values)}) == spread(values)


@given(st.lists(st.integers(1, 50), min_size=1))
def test_percentiles_of_the_times_agree_with_their_spread(seconds):
    latencies = Latencies()
    for each in seconds:
        latencies.add(done(output_len=11 if each % 2 else 1, ttft=each * SECOND, end=(each + 1) * SECOND))
    spreads = latencies.spreads()
    for name, values in latencies.percentiles().items():
        if not values:  # no request has a second token
            assert name == "tpot"
            assert not any(each % 2 for each in seconds)
            continue
        assert values == sorted(values)
        assert [values[50], values[90], values[99], values[100]] == [
            getattr(spreads[name], part) for part in ("p50", "p90", "p99", "max")
        ]


def test_times_that_were_put_away_count_like_the_others(monkeypatch):
    whole = Latencies()
    in_pieces = Latencies()
    monkeypatch.setattr("pycore.latency.CHUNK", 3)
    for second in (5, 2, 9, 9, 1, 4, 7):
        each = done(output_len=11, ttft=second * SECOND, end=(second + 1) * SECOND)
        in_pieces.add(each)
        with monkeypatch.context() as large:
            large.setattr("pycore.latency.CHUNK", 100)
            whole.add(each)
    assert in_pieces.spreads() == whole.spreads()
    assert in_pieces.percentiles() == whole.percentiles()
