"""Prompts with a beginning in common."""

from pycore.workload.common_prompt import common_prompt


def test_the_beginning_is_shared_and_the_rest_within_bounds():
    load = common_prompt(5, 40, 30, (3, 7), (4, 8))
    assert len({tuple(each.prompt[:30]) for each in load}) == 1
    assert {len(each.prompt) - 30 for each in load} == {3, 4, 5, 6, 7}
    assert {len(each.output) for each in load} == {4, 5, 6, 7, 8}


def test_fewer_questions_are_asked_again_in_turn_and_answered_anew():
    load = common_prompt(5, 6, 10, (3, 7), (4, 8), 4)
    assert load[0].prompt == load[4].prompt != load[1].prompt
    assert [each.task for each in load] == [0, 1, 2, 3, 0, 1]
    assert load[0].output != load[4].output


def test_another_length_in_common_leaves_the_questions_as_they_are():
    short, long = (common_prompt(5, 5, shared, (3, 7), (4, 8)) for shared in (2, 40))
    assert [each.prompt[2:] for each in short] == [each.prompt[40:] for each in long]
