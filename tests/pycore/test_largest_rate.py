"""The search for the largest rate, over an engine whose limit is known, and over a real one."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.largest_rate import largest_rate
from pycore.latency import Slo
from pycore.replay import Replay
from pycore.request import Request
from pycore.workload.poisson import SHAREGPT


def limited(*good, num=100):
    """A load of which all requests are inside the SLO at the rates for which one of `good` says yes."""

    def replay_at(rate):
        met = num if any(each(rate) for each in good) else num // 2
        return SimpleNamespace(num_in_slo=met, num_judged=num, attainment=met / num)

    return replay_at


@given(limit=st.integers(10, 900_000), start=st.integers(10, 900_000), tolerance=st.integers(1, 200))
def test_the_limit_is_found_to_the_tolerance_from_wherever_one_starts(limit, start, tolerance):
    found = largest_rate(limited(lambda rate: rate <= limit), start=start, tolerance=tolerance)
    assert found.rate <= limit < found.below
    assert found.below - found.rate <= max(1, found.rate * tolerance // 1000)
    assert found.steady


def test_no_rate_will_do_is_told_in_one_sentence():
    found = largest_rate(limited(), lowest=100)
    assert (found.rate, found.below) == (0, 100)
    assert str(found) == (
        "no rate meets the SLO: at 0.1 requests/s, the lowest tried, only 50.0% are inside it, expected 90.0%"
    )


def test_a_limit_beyond_the_highest_rate_is_told_as_such():
    found = largest_rate(limited(lambda rate: True), highest=5000)
    assert (found.rate, found.below) == (5000, None)
    assert str(found) == "at least 5 requests/s: the highest rate tried is sustained"


def test_luck_near_the_limit_is_told():
    found = largest_rate(limited(lambda rate: rate < 2000, lambda rate: rate in (2500, 2250)), tolerance=1)
    assert found.steady
    lucky = largest_rate(limited(lambda rate: rate != 2000 and rate < 3000), start=2000, tolerance=1)
    assert lucky.rate < 2000
    assert [probe.rate for probe in lucky.probes] == sorted(probe.rate for probe in lucky.probes)


def test_no_rate_is_sustained_where_a_request_hangs_and_all_behind_it():
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=10, block_size=4),
        scheduler=SchedulerConfig(rules="vllm-v1"),
        step_ns=1,
    )
    load = [Request(0, 0, 8, 4), Request(1, 10, 60, 4), Request(2, 20, 8, 4)]

    def replay_at(rate):
        replay = Replay(config, load, slo=Slo(10**9, 10**9))
        replay.advance(1000)
        assert replay.result().num_in_slo == 1
        return replay.result()

    found = largest_rate(replay_at)
    assert (found.rate, found.best_attainment) == (0, 1 / 3)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"lowest": 0}, "expected 1 or more, ascending"),
        ({"start": 5}, "expected 1 or more, ascending"),
        ({"share": 1001}, "expected 1 to 1000"),
        ({"tolerance": 0}, "at least 1"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, told):
    with pytest.raises(ValueError, match=told):
        largest_rate(limited(), **limits)


def test_an_engine_sustains_its_largest_rate_and_not_the_one_above():
    config = EngineConfig(memory=MemoryConfig(num_blocks=748, block_size=16))

    def replay_at(rate):
        slo = Slo(10 * 10**9, 10**9)
        replay = Replay(config, SHAREGPT.requests(5, 100, rate / 1000), slo=slo)
        replay.advance(10**9)
        return replay.result()

    found = largest_rate(replay_at, tolerance=50)
    assert replay_at(found.rate).attainment >= 0.9 > replay_at(found.below).attainment
