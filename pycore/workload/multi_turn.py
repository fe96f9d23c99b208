"""Chats of several turns: each prompt is all that was said before, and a new question."""

from array import array
from dataclasses import dataclass

from pycore.rng import Rng
from pycore.workload.few_shot import VOCABULARY, Exchange

SYSTEM = 100
QUESTION, ANSWER = (20, 60), (40, 120)  # shortest and longest
PAUSE = (5, 40)  # steps between an answer and the next question


@dataclass(frozen=True, slots=True)
class Session:
    """One chat.

    Attributes:
        turns: its requests; each prompt begins with the prompt and the answer of the one before.
        pauses: steps between the answer to a turn and the next turn, one fewer than turns.
    """

    turns: tuple[Exchange, ...]
    pauses: tuple[int, ...]


def multi_turn(seed: int, num_sessions: int = 60, num_turns: int = 5) -> tuple[Session, ...]:
    """Chats behind a system prompt of 100 tokens that all share (facts R8).

    A question is 20–60 tokens, an answer 40–120, drawn from 32,000 ids; the next question comes 5–40 steps
    after the last answer. An exchange's task is the number of its session.

    >>> first, second = multi_turn(5, 1, 2)[0].turns
    >>> second.prompt[: first.total_len] == first.prompt + first.output
    True
    """
    rng = Rng(seed)
    shared, said, paused = rng.fork("shared"), rng.fork("said"), rng.fork("paused")

    def drawn(stream: Rng, length: int) -> array:
        return array("q", [stream.randrange(VOCABULARY) for _ in range(length)])

    def one_of(stream: Rng, bounds: tuple[int, int]) -> int:
        return stream.randrange(bounds[0], bounds[1] + 1)

    system = drawn(shared, SYSTEM)
    sessions = []
    for number in range(num_sessions):
        history, turns = system, []
        for _ in range(num_turns):
            prompt = history + drawn(said, one_of(said, QUESTION))
            answer = drawn(said, one_of(said, ANSWER))
            turns.append(Exchange(number, prompt, answer))
            history = prompt + answer
        sessions.append(Session(tuple(turns), tuple(one_of(paused, PAUSE) for _ in range(num_turns - 1))))
    return tuple(sessions)
