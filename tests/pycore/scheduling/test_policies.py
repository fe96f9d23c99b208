import pytest

from pycore.scheduling.policies import VICTIM, latest_arrival
from tests.pycore.build import sequence


def test_the_latest_arrival_is_picked_wherever_it_stands():
    seqs = [sequence(0, 1, arrival=3), sequence(1, 1, arrival=9), sequence(2, 1, arrival=5)]
    assert latest_arrival(seqs).id == 1
    assert latest_arrival(reversed(seqs)).id == 1


def test_ties_break_by_id():
    assert latest_arrival([sequence(4, 1), sequence(7, 1), sequence(5, 1)]).id == 7


@pytest.mark.parametrize("policy", VICTIM)
def test_a_policy_is_listed_under_its_own_name(policy):
    assert VICTIM[policy].__name__ == policy


@pytest.mark.parametrize("policy", VICTIM)
def test_every_policy_picks_one_of_those_it_is_given(policy):
    seqs = [sequence(i, prompt=1 + i % 3, arrival=i % 2) for i in range(6)]
    assert VICTIM[policy](seqs) in seqs
    assert VICTIM[policy](seqs[2:3]) is seqs[2]


@pytest.mark.parametrize("policy", ["latest_arrival", "least_important", "most_outputs"])
def test_forks_of_an_earlier_request_do_not_make_it_the_later_one(policy):
    earlier, later = sequence(0, 3), sequence(1, 3)
    fork = earlier.fork(1 << 40, 1)
    assert VICTIM[policy]([earlier, fork, later]) is later
