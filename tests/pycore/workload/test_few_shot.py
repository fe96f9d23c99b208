"""Prompts that share examples."""

from collections import Counter

from pycore.workload.few_shot import few_shot


def test_lengths_are_those_of_the_published_load():
    load = few_shot(5)
    assert {40 <= len(each.prompt) - 600 <= 79 and 20 <= len(each.output) <= 60 for each in load} == {True}
    assert Counter(each.task for each in load) == dict.fromkeys(range(8), 50)


def test_a_task_shares_its_examples_and_all_share_the_system_prompt():
    load = few_shot(5)
    assert len({tuple(each.prompt[:100]) for each in load}) == 1
    assert len({tuple(each.prompt[:600]) for each in load}) == 8
    assert len({tuple(each.prompt) for each in load}) == 400


def test_tasks_come_mixed_and_the_seed_decides():
    load = few_shot(5)
    assert len({each.task for each in load[:32]}) == 8
    assert few_shot(5) == load != few_shot(6)
