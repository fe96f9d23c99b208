"""Serving prompts one at a time: the theorem on any load, and what a window does to waiting."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.experiments.few_shot_order import FEW_SHOT_ORDER, SWEEP, SWEPT
from pycore.experiments.prefix_run import DEPTH_FIRST, Served, planned, serve
from pycore.experiments.theorem import THEOREM
from pycore.scheduling.queue_order import ADMISSION
from pycore.workload.few_shot import Exchange

# Outputs are of tokens that no prompt has, and no two are alike: an engine's answers are not asked again.
LOADS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=10), min_size=1, max_size=12).map(
    lambda prompts: [
        Exchange(0, array("q", [*prompt, 1000 + i]), array("q", [5000 + i] * (i % 4 + 1)))
        for i, prompt in enumerate(prompts)
    ]
)


def served(*args, **options) -> Served:
    work = serve(*args, **options)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def distinct(load: list[Exchange]) -> int:
    """Distinct prefixes, counted without a tree."""
    return len({tuple(each.prompt[: i + 1]) for each in load for i in range(len(each.prompt))})


@given(load=LOADS, spare=st.integers(0, 30))
def test_depth_first_computes_every_distinct_token_once_if_the_longest_request_fits(load, spare):
    capacity = max(each.total_len for each in load) + spare
    assert served(load, DEPTH_FIRST, capacity, 1).computed == distinct(load) == planned(load).total


@given(load=LOADS, spare=st.integers(0, 30))
def test_so_does_longest_prefix_first_if_all_are_known(load, spare):
    capacity = max(each.total_len for each in load) + spare
    assert served(load, "lpm", capacity, len(load)).computed == distinct(load)


@given(load=LOADS, order=st.sampled_from(sorted(ADMISSION)), capacity=st.integers(0, 40))
def test_no_order_computes_fewer_and_each_request_is_served(load, order, capacity):
    found = served(load, order, capacity, 4)
    assert distinct(load) <= found.computed <= found.prompt_tokens
    assert len(found.waits) == len(load)


@given(load=LOADS, window=st.integers(1, 6))
def test_first_come_first_served_waits_for_the_window_at_most(load, window):
    assert max(served(load, "fcfs", 20, window).waits) == min(window, len(load)) - 1


@pytest.mark.parametrize("order", [*ADMISSION, DEPTH_FIRST])
def test_a_cache_below_the_shortest_request_finds_nothing(order):
    load = [Exchange(0, array("q", [1, 2, 3, i]), array("q", [9])) for i in range(10, 20)]
    assert served(load, order, 4, 5).hit_tokens == 0


def test_once_all_examples_fit_the_order_does_not_matter():
    (chart,) = (each for each in FEW_SHOT_ORDER.run({}).charts if each.x == SWEEP)
    assert len({series.values[-1] for series in chart.series}) == 1 < len(SWEPT)


def test_a_window_of_one_leaves_no_choice():
    figures = FEW_SHOT_ORDER.run({"window": 1}).figures
    assert figures["hit_lpm"] == figures["hit_ageing"] == figures["hit_fcfs"]
    assert figures["wait_lpm"] == 0


def test_progress_counts_the_requests_of_all_runs():
    seen = []
    THEOREM.run({"tasks": 2, "questions": 3}, lambda *heard: seen.append(heard))
    assert seen == [(done, 36) for done in range(6, 37, 6)]
