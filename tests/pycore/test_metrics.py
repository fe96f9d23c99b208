"""Means and percentiles over runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import Admitted, EventLog, Waiting
from pycore.memory.waste import Waste
from pycore.metrics import (
    blocked_by_fragmentation,
    memory_use,
    percentile,
    recorded_use,
)
from pycore.recorder import Recording, record
from pycore.request import Request


def test_means_are_taken_over_all_samples():
    use = memory_use([(Waste(4, 1, 1, 2, 2), 3), (Waste(6, 1, 0, 0, 3), 1)])
    assert (use.samples, use.capacity, use.real, use.reserved, use.internal) == (2, 10, 10, 2, 1)
    assert (use.external, use.usable, use.residents, use.peak_residents) == (2, 5, 4, 3)
    assert use.utilisation == 0.5
    assert use.mean_share(use.external) == 0.1
    assert use.real_of_held == 10 / 13
    assert use.mean_residents == 2


def test_an_empty_pool_has_no_real_share_of_what_is_held():
    assert memory_use([(Waste(0, 0, 0, 0, 8), 0)]).real_of_held == 0


@pytest.mark.parametrize("samples", [[], [(Waste(1, 0, 0, 0, 0), 1), (Waste(1, 1, 0, 0, 0), 1)]])
def test_no_samples_or_mixed_pools_are_refused(samples):
    with pytest.raises(ValueError, match="sample"):
        memory_use(samples)


def test_a_recording_counts_from_its_first_step():
    requests = [Request(0, 0, prompt_len=4, output_len=3)]
    engine = build_engine(EngineConfig(MemoryConfig("paged", 4, 4), step_ns=1), requests, EventLog())
    recording = record(engine, 4)
    use = recorded_use(recording)
    # 4 tokens after the prefill, 5 after the first decode, then done: the last token is never fed back.
    assert [frame.waste.real for frame in recording.frames] == [0, 4, 5, 0, 0]
    assert (use.samples, use.real, use.residents, use.peak_residents) == (4, 9, 2, 1)


def test_a_recording_without_steps_is_refused():
    engine = build_engine(EngineConfig(), [], EventLog())
    with pytest.raises(ValueError, match="no samples"):
        recorded_use(Recording(record(engine, 0).frames))


def test_only_waiting_for_one_piece_counts_as_fragmentation():
    events = [
        Waiting(1, 8, 10, 4, "fragmented"),
        Waiting(2, 8, 4, 4, "memory"),
        Admitted(1, 3),
        Waiting(3, 8, 9, 4, "fragmented"),
    ]
    assert list(blocked_by_fragmentation(events)) == [1, 3]


@given(st.lists(st.integers(-100, 100), min_size=1), st.integers(0, 100))
def test_a_percentile_is_the_smallest_value_that_enough_values_do_not_exceed(values, percent):
    found = percentile(values, percent)
    enough = [
        value for value in values if 100 * sum(each <= value for each in values) >= percent * len(values)
    ]
    assert found == min(enough)


@pytest.mark.parametrize(("values", "percent"), [([], 50), ([1], -1), ([1], 101)])
def test_a_percentile_of_nothing_or_beyond_100_is_refused(values, percent):
    with pytest.raises(ValueError, match="percentile"):
        percentile(values, percent)
