"""Prefills on the paper GPU."""

import pytest

from pycore.experiments.hit_rate_is_not_time import HIT_RATE_IS_NOT_TIME
from pycore.experiments.prefill_time import LLAMA_ON_H100, prefill_ns, prefills_ns, seconds, weights_ns


def test_four_hundred_prefills_without_a_cache_take_what_is_published():
    assert seconds(prefills_ns(LLAMA_ON_H100, [659] * 400)) == 5.58


def test_no_hit_makes_a_prefill_shorter_than_reading_the_weights():
    times = [prefill_ns(LLAMA_ON_H100, 659, cached) for cached in range(659)]
    assert times == sorted(times, reverse=True)
    assert times[-1] >= weights_ns(LLAMA_ON_H100) > times[0] / 3


@pytest.mark.parametrize("gpu", ["a100", "l4"])
def test_on_slower_gpus_the_whole_load_takes_longer(gpu):
    here, there = (HIT_RATE_IS_NOT_TIME.run({"gpu": each}).figures for each in ("h100", gpu))
    assert there["time_none"] > here["time_none"]
    assert there["hit_lpm"] == here["hit_lpm"]
