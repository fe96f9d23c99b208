"""Prompts that share examples: a benchmark asked in few-shot style."""

from array import array
from dataclasses import dataclass

from pycore.rng import Rng

VOCABULARY = 32_000
SYSTEM, EXAMPLES = 100, 500
QUESTION, OUTPUT = (40, 79), (20, 60)  # shortest and longest


@dataclass(frozen=True, slots=True)
class Exchange:
    """A prompt and what will be generated for it, as token ids.

    Attributes:
        task: which task's examples the prompt holds.
        prompt, output: token ids.
    """

    task: int
    prompt: array
    output: array

    @property
    def total_len(self) -> int:
        """Prompt plus output, in tokens."""
        return len(self.prompt) + len(self.output)


def few_shot(seed: int, num_tasks: int = 8, num_each: int = 50) -> tuple[Exchange, ...]:
    """`num_each` questions to each task, all in random order (facts R4).

    A prompt is 100 tokens that all share, 500 that its task shares, and 40–79 of its own; 20–60 tokens are
    generated. Token ids are drawn from 32,000.

    >>> load = few_shot(5)
    >>> len(load), min(len(each.prompt) for each in load), max(each.total_len for each in load)
    (400, 640, 738)
    """
    rng = Rng(seed)
    shared, questions, order = rng.fork("shared"), rng.fork("questions"), rng.fork("order")

    def drawn(stream: Rng, length: int) -> list[int]:
        return [stream.randrange(VOCABULARY) for _ in range(length)]

    system = drawn(shared, SYSTEM)
    tasks = [system + drawn(shared, EXAMPLES) for _ in range(num_tasks)]
    load = []
    for task, beginning in enumerate(tasks):
        for _ in range(num_each):
            question = drawn(questions, questions.randrange(QUESTION[0], QUESTION[1] + 1))
            output = drawn(questions, questions.randrange(OUTPUT[0], OUTPUT[1] + 1))
            load.append(Exchange(task, array("q", beginning + question), array("q", output)))
    order.shuffle(load)
    return tuple(load)
