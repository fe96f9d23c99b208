"""Measured runs predicted: within the goals, above what is possible, and as vLLM steps."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycore.cost_model import Efficiency, FixedStep
from pycore.fidelity.comparison import compare
from pycore.fidelity.factors import BY_GPU, RUNS, factors_for
from pycore.fidelity.measured_run import MeasuredRun, Outcome, RequestTimes, RunSettings
from pycore.fidelity.prediction import Rerun, StalledError, least_ns, num_blocks, predict, requests_of
from pycore.specs import H100_SXM, LLAMA_3_8B, Deployment

AT_PEAK = Efficiency(1000, 1000, 1000, overhead_ns=0, hop_ns=0)
SETTINGS = RunSettings(
    Deployment(LLAMA_3_8B, H100_SXM), max_num_seqs=64, token_budget=512, max_len=8192, num_blocks=2000
)


def made(*requests: tuple[int, int, int], settings: RunSettings = SETTINGS) -> MeasuredRun:
    """A run of which only arrival, prompt and output are known."""
    times = (
        RequestTimes(arrival, prompt, output, arrival, arrival, arrival)
        for arrival, prompt, output in requests
    )
    return MeasuredRun("made", settings, Outcome(tuple(times)))


def rerun(run: MeasuredRun, step_ns: int = 100) -> Rerun:
    found = Rerun(run, FixedStep(step_ns))
    while not found.done:
        found.step()
    return found


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_predicted_within_the_goals_by_factors_of_another(name):
    run = RUNS[name]()
    fitted = factors_for(run)
    assert fitted.run != name
    predicted = predict(run, fitted.efficiency)
    rows = compare(run.measured, predicted)
    assert [each for each in rows if each.reached is False] == []
    errors = {(each.quantity, each.statistic): each.error for each in rows}
    assert abs(errors["running", "mean"]) < 5
    assert abs(errors["waiting", "mean"]) < 5


@pytest.mark.parametrize("name", RUNS)
def test_at_the_peak_of_the_data_sheet_a_run_still_takes_what_it_must(name):
    run = RUNS[name]()
    predicted = predict(run, AT_PEAK)
    makespan, tpot = least_ns(run, predicted)
    assert makespan <= predicted.makespan_ns < run.measured.makespan_ns
    assert tpot <= min(each.tpot_ns for each in predicted.requests)
    assert tpot <= min(each.tpot_ns for each in run.measured.requests)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**9), st.integers(1, 3000), st.integers(1, 200)), min_size=1, max_size=12
    )
)
def test_no_prediction_is_below_what_is_possible(load):
    run = made(*sorted(load))
    predicted = predict(run, AT_PEAK)
    makespan, tpot = least_ns(run, predicted)
    last = max(each.last_token_ns for each in predicted.requests)
    assert last - predicted.requests[0].arrival_ns >= makespan
    for told, asked in zip(predicted.requests, run.measured.requests, strict=True):
        assert asked.arrival_ns <= told.queued_ns < told.first_token_ns <= told.last_token_ns
        assert (told.prompt_len, told.output_len) == (asked.prompt_len, asked.output_len)
        if told.tpot_ns is not None:
            assert told.tpot_ns >= tpot


def test_who_comes_during_a_step_is_queued_at_its_end_and_computed_in_the_step_after_the_next():
    """Steps of 100 ns begin at 0, 100, 200: the one at 100 is decided at 0, and the one at 200 at 100."""
    first, late = rerun(made((0, 10, 9), (50, 10, 2))).outcome().requests
    assert (first.queued_ns, first.first_token_ns) == (0, 100)
    assert (late.queued_ns, late.first_token_ns, late.last_token_ns) == (100, 300, 400)


def test_an_idle_engine_begins_at_once():
    late = rerun(made((0, 10, 1), (1000, 10, 1))).outcome().requests[1]
    assert (late.queued_ns, late.first_token_ns) == (1000, 1100)


def test_without_scheduling_ahead_a_request_is_in_the_next_step():
    settings = replace(SETTINGS, scheduled_ahead=False)
    late = rerun(made((0, 10, 9), (50, 10, 2), settings=settings)).outcome().requests[1]
    assert (late.queued_ns, late.first_token_ns) == (100, 200)


def test_a_prompt_is_computed_within_the_budget_of_tokens():
    request = rerun(made((0, 1200, 1))).outcome().requests[0]
    assert request.first_token_ns == 300


def test_preempted_requests_find_their_own_blocks_again():
    tight = replace(SETTINGS, num_blocks=40)
    load = [(0, 100, 150)] * 6
    caching, plain = (
        rerun(made(*load, settings=replace(tight, prefix_caching=each))).engine.scheduler
        for each in (True, False)
    )
    assert 0 < caching.num_recomputed < plain.num_recomputed


def test_prompts_have_nothing_in_common():
    first, second = requests_of(made((0, 40, 1), (0, 40, 1)))
    assert set(first.prompt.tokens).isdisjoint(second.prompt.tokens)


def test_a_request_that_never_fits_ends_the_rerun_with_a_reason():
    with pytest.raises(StalledError) as caught:
        predict(made((0, 10, 2), (0, 3000, 5), settings=replace(SETTINGS, num_blocks=50)), AT_PEAK)
    assert (caught.value.num_ended, caught.value.num_requests) == (1, 2)


def test_blocks_are_estimated_where_the_run_does_not_say():
    """The RTX 4090 had 2,588."""
    run = RUNS["RTX4090_Llama-3.1-8B"]()
    assert num_blocks(run.settings) == 2588
    assert abs(num_blocks(replace(run.settings, num_blocks=None)) / 2588 - 1) < 0.05


def test_each_gpu_with_factors_has_them_from_a_run_on_it():
    for gpu, fitted in BY_GPU.items():
        assert RUNS[fitted.run]().settings.deployment.gpu.name == gpu
