"""The run behind the experiments on serving."""

import pytest

from pycore.experiments.serving_run import (
    BUDDY,
    MANAGERS,
    SCENARIO_A,
    SLO,
    in_turn,
    in_use,
    serve,
    sustained,
    under,
)
from pycore.replay import Replay
from pycore.workload.poisson import SHAREGPT


def finish(work):
    """What a generator returns, and what it yielded on the way."""
    yielded = []
    while True:
        try:
            yielded.append(next(work))
        except StopIteration as end:
            return end.value, yielded


def test_scenario_a_has_the_memory_of_the_facts():
    assert SCENARIO_A.memory.num_blocks * SCENARIO_A.memory.block_size == 11_968
    assert SCENARIO_A.deployment.model.num_params == 13_097_492_480


@pytest.mark.parametrize("manager", [*MANAGERS, BUDDY])
def test_managers_share_one_pool_and_one_load(manager):
    result, _ = finish(serve(under(SCENARIO_A, manager), SHAREGPT.requests(5, 30, 2)))
    assert result.capacity == 11_968
    assert result.num_finished == 30
    assert 0 < in_use(result) <= 1


def test_a_load_served_in_slices_is_the_load_served_at_once():
    sliced, ended = finish(serve(SCENARIO_A, SHAREGPT.requests(5, 60, 3)))
    replay = Replay(SCENARIO_A, SHAREGPT.requests(5, 60, 3), slo=SLO)
    replay.advance(10**9)
    at_once = replay.result()
    assert (sliced.end_ns, sliced.num_in_slo, sliced.ttft) == (
        at_once.end_ns,
        at_once.num_in_slo,
        at_once.ttft,
    )
    assert ended == sorted(ended)
    assert ended[-1] == 60


def test_progress_goes_up_to_the_requests_of_all_runs():
    runs = [(rate, serve(SCENARIO_A, SHAREGPT.requests(5, 20, rate))) for rate in (1, 2)]
    found, progress = finish(in_turn(runs, 2, 20))
    assert list(found) == [1, 2]
    assert progress == sorted(progress)
    assert progress[-1] == (40, 40)


def test_the_search_finds_the_same_rate_from_elsewhere_within_the_tolerance():
    rates = [finish(sustained(SCENARIO_A, 5, 60, start, 50))[0].rate for start in (500, 4000)]
    assert max(rates) <= 1.1 * min(rates)
