"""Prompts with a beginning in common, and the rest of each its own."""

from array import array

from pycore.rng import Rng
from pycore.workload.few_shot import VOCABULARY, Exchange


def common_prompt(
    seed: int,
    num: int,
    shared: int,
    own: tuple[int, int],
    output: tuple[int, int],
    num_questions: int | None = None,
) -> tuple[Exchange, ...]:
    """`num` requests whose prompts begin with the same `shared` tokens.

    Args:
        seed: of the token ids, drawn from 32,000, and the lengths.
        num: requests.
        shared: tokens in common; 0: none.
        own, output: shortest and longest remainder of a prompt, and answer.
        num_questions: different remainders, asked in turn; None: each request has its own.

    Returns:
        The requests; an exchange's task is the number of its question.

    >>> load = common_prompt(5, 12, 30, (3, 7), (4, 8))
    >>> len({tuple(each.prompt[:30]) for each in load}), len({tuple(each.prompt) for each in load})
    (1, 12)
    """
    rng = Rng(seed)
    asked, answered = rng.fork("questions"), rng.fork("answers")

    def drawn(stream: Rng, length: int) -> array:
        return array("q", [stream.randrange(VOCABULARY) for _ in range(length)])

    def one_of(stream: Rng, bounds: tuple[int, int]) -> array:
        return drawn(stream, stream.randrange(bounds[0], bounds[1] + 1))

    beginning = drawn(rng.fork("shared"), shared)
    questions = [one_of(asked, own) for _ in range(num if num_questions is None else num_questions)]
    return tuple(
        Exchange(i % len(questions), beginning + questions[i % len(questions)], one_of(answered, output))
        for i in range(num)
    )
