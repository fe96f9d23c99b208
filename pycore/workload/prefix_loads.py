"""Loads whose prompts say what they share, sized for a pool that one can see: 64 blocks of 4 tokens."""

from array import array

from pycore.prompt import Prompt
from pycore.request import Request
from pycore.rng import Rng
from pycore.workload.few_shot import VOCABULARY
from pycore.workload.load import Load, bursts


def _drawn(rng: Rng, length: int) -> list[int]:
    return [rng.randrange(VOCABULARY) for _ in range(length)]


def _one_of(rng: Rng, shortest: int, longest: int) -> list[int]:
    return _drawn(rng, rng.randrange(shortest, longest + 1))


def shared_prompts(seed: int, step_ns: int) -> Load:
    """72 questions to 6 tasks: a system prompt that all share, the examples of the task, a question.

    10, 14 and 3–9 tokens; some tasks are asked more often than others. 4–14 tokens are generated. 12 requests
    are there at once, 3–6 more come every 4–8 steps.
    """
    rng = Rng(seed)
    said, asked = rng.fork("shared"), rng.fork("questions")
    system = _drawn(said, 10)
    tasks = [system + _drawn(said, 14) for _ in range(6)]
    chosen = rng.fork("tasks").choices(tasks, (6, 4, 3, 2, 1, 1), 72)
    steps = bursts(rng.fork("arrivals"), 72, 12, (3, 6), (4, 8))
    requests = []
    for id, (beginning, step) in enumerate(zip(chosen, steps, strict=True)):
        tokens = array("q", beginning + _one_of(asked, 3, 9))
        requests.append(
            Request(id, step * step_ns, len(tokens), asked.randrange(4, 15), prompt=Prompt(tokens))
        )
    return Load(tuple(requests), max_len=48)


def chats(seed: int, step_ns: int) -> Load:
    """16 chats of 2–5 turns: a prompt is a system prompt, all that was said before, and a new question.

    8 tokens, then 4–9 of a question and 4–10 of an answer each turn. A chat begins every 0–6 steps; its next
    turn comes as many steps after the last one as that one generates tokens, and 4–14 more: if the last turn
    had to wait, before its answer is there. That answer is what the turn generates, so that it can be found.
    """
    rng = Rng(seed)
    said, turns, times = rng.fork("said"), rng.fork("turns"), rng.fork("times")
    system = _drawn(said, 8)
    rows: list[tuple[int, int, list[int], list[int]]] = []
    begins = 0
    for chat in range(16):
        step, history = begins, system
        for _ in range(turns.randrange(2, 6)):
            prompt, answer = history + _one_of(said, 4, 9), _one_of(said, 4, 10)
            rows.append((step, chat, prompt, answer))
            history = prompt + answer
            step += len(answer) + times.randrange(4, 15)
        begins += times.randrange(0, 7)
    rows.sort(key=lambda row: row[:2])
    requests = []
    for id, (step, _, prompt, answer) in enumerate(rows):
        said_before = Prompt(array("q", prompt))
        lengths = len(prompt), len(answer)
        requests.append(Request(id, step * step_ns, *lengths, prompt=said_before, answer=tuple(answer)))
    return Load(tuple(requests), max_len=8 + 5 * (9 + 10))
