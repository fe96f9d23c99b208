"""Chats of several turns: each prompt goes on from the answer before."""

from pycore.workload.multi_turn import ANSWER, PAUSE, QUESTION, SYSTEM, multi_turn


def test_each_prompt_is_all_that_was_said_and_a_new_question():
    for session in multi_turn(5, 8, 4):
        for before, after in zip(session.turns, session.turns[1:], strict=False):
            said = before.prompt + before.output
            assert after.prompt[: len(said)] == said
            assert QUESTION[0] <= len(after.prompt) - len(said) <= QUESTION[1]


def test_all_chats_share_the_system_prompt_and_nothing_else():
    sessions = multi_turn(5, 30, 2)
    heads = {tuple(session.turns[0].prompt[:SYSTEM]) for session in sessions}
    assert len(heads) == 1
    assert len({session.turns[0].prompt[SYSTEM] for session in sessions}) > 25


def test_lengths_and_pauses_are_within_bounds_and_both_ends_occur():
    sessions = multi_turn(5, 200, 5)
    pauses = [pause for session in sessions for pause in session.pauses]
    answers = [len(turn.output) for session in sessions for turn in session.turns]
    assert (min(pauses), max(pauses)) == PAUSE
    assert (min(answers), max(answers)) == ANSWER
    assert all(len(session.pauses) == len(session.turns) - 1 for session in sessions)


def test_more_sessions_leave_those_before_as_they_are():
    assert [each.turns for each in multi_turn(5, 9)][:4] == [each.turns for each in multi_turn(5, 4)]
