"""Holes too small for the next request."""

import pytest

from pycore.experiments.external_fragmentation import EXTERNAL_FRAGMENTATION, MEANS


def _figures(**settings) -> dict:
    return dict(EXTERNAL_FRAGMENTATION.run({"requests": 1000, **settings}).figures)


def test_a_nearly_empty_stretch_never_fails_small_requests():
    figures = _figures(offered=10)
    assert figures["failed_512"] == 0
    assert figures["share_512"] == 0


def test_more_demand_fails_more_often():
    calm, crowded = _figures(offered=60), _figures(offered=150)
    assert all(calm[f"failed_{mean}"] < crowded[f"failed_{mean}"] for mean in MEANS)


def test_buddy_fails_more_often_than_first_fit():
    first_fit, buddy = _figures(), _figures(placement="buddy")
    assert all(first_fit[f"failed_{mean}"] < buddy[f"failed_{mean}"] for mean in MEANS)


@pytest.mark.parametrize("placement", ["first_fit", "buddy"])
def test_failures_with_enough_free_are_some_of_the_failures(placement):
    (table,) = EXTERNAL_FRAGMENTATION.run({"requests": 1000, "placement": placement}).tables
    for _, _, held, failed, scattered, share, _, _ in table.rows:
        assert 0 < held < 100
        assert 0 < scattered <= failed
        assert share == round(100 * scattered / failed, 1)


def test_sizes_come_out_near_the_mean_that_was_asked():
    (table,) = EXTERNAL_FRAGMENTATION.run({}).tables
    for mean, asked, *_ in table.rows:
        assert asked == pytest.approx(mean, rel=0.05)


def test_another_seed_is_another_load():
    assert _figures(seed=1) == _figures(seed=1) != _figures(seed=2)


def test_progress_counts_the_requests_of_all_sizes():
    seen = []
    EXTERNAL_FRAGMENTATION.run({"requests": 600}, lambda *heard: seen.append(heard))
    assert seen == [(done, 1800) for done in (512, 600, 1112, 1200, 1712, 1800)]
