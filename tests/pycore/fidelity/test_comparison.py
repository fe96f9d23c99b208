"""Errors, goals, and time lines on one axis."""

from pycore.fidelity.comparison import Compared, compare, overlaid
from pycore.fidelity.measured_run import Load, Outcome, RequestTimes


def test_an_error_is_signed_and_held_against_its_goal():
    assert Compared("tpot", "mean", 100, 109.9).error == 9.9
    assert Compared("tpot", "mean", 100, 109.9).reached
    assert Compared("tpot", "mean", 100, 89).reached is False
    assert Compared("ttft", "mean", 100, 114).reached
    assert Compared("ttft", "p99", 100, 300).reached is None


def test_nothing_measured_has_no_error():
    assert Compared("waiting", "mean", 0, 3).error is None
    assert Compared("tpot", "mean", 0, 3).reached is None


def test_a_run_without_time_line_is_compared_without_it():
    outcome = Outcome((RequestTimes(0, 5, 3, 0, 10, 30),))
    quantities = {each.quantity for each in compare(outcome, outcome)}
    assert quantities == {"ttft", "tpot", "end_to_end", "makespan", "throughput"}
    assert all(not each.error for each in compare(outcome, outcome))


def test_the_shorter_line_is_at_zero_once_it_has_ended():
    lines = [[Load(1, 4, 0), Load(2, 5, 1)], [Load(1, 7, 2)]]
    assert overlaid(lines, 10) == ([1, 2], [[(4, 0), (5, 1)], [(7, 2), (0, 0)]])


def test_lines_are_thinned_to_the_points_that_are_wanted():
    seconds, (line,) = overlaid([[Load(i, i, 0) for i in range(100)]], 30)
    assert len(seconds) == len(line) <= 30
    assert seconds[:2] == [1, 5]
