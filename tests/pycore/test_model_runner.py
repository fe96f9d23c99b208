"""Which tokens come of a run without a model."""

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import NullLog
from pycore.model_runner import CountingRunner
from pycore.prompt import Prompt
from pycore.request import Request, Sequence
from pycore.rng import Rng


def tokens_of(requests: list[Request], **scheduler) -> dict[str, list[int]]:
    """Generated tokens by sequence, once all have finished."""
    config = EngineConfig(MemoryConfig(num_blocks=200), SchedulerConfig(**scheduler), step_ns=1)
    engine = build_engine(config, requests, NullLog())
    ended = []
    while not engine.done:
        ended += engine.step()
    return {seq.name: seq.tokens and seq.tokens[seq.request.prompt_len :] for seq in ended}


def test_a_run_that_only_counts_has_no_tokens():
    assert tokens_of([Request(0, 0, 3, 2)]) == {"r0": None}


def test_each_generated_token_is_a_new_one_where_prompts_say_theirs():
    said = Prompt((5, 6, 7))
    generated = tokens_of(
        [
            Request(0, 0, 3, 4, prompt=said),
            Request(1, 0, 3, 4),
            Request(2, 0, 3, 4, 2, "parallel", prompt=said),
            Request(3, 0, 3, 4, 2, "beam", prompt=said),
        ]
    )
    assert generated["r1"] is None
    assert all(len(tokens) == 4 for tokens in generated.values() if tokens)
    samples = generated["r0"] + generated["r2"] + generated["r2.1"]
    assert len(set(samples)) == 12
    assert max(samples) < 0


def test_an_answer_that_the_load_knows_is_generated_step_by_step_and_in_leaps():
    said, answer = Prompt((5, 6, 7)), (11, 12, 13, 14)
    request = Request(0, 0, 3, 4, prompt=said, answer=answer)
    assert tuple(tokens_of([request, Request(1, 0, 3, 9, prompt=said)])["r0"]) == answer[:4]
    seq = Sequence(request)
    runner = CountingRunner(Rng(5))
    for steps in (1, 2, 1):
        runner.decode([seq], steps)
    assert tuple(seq.tokens) == (5, 6, 7, *answer)


def test_a_piece_of_a_prompt_gives_no_token():
    said = Prompt(tuple(range(20)))
    assert len(tokens_of([Request(0, 0, 20, 3, prompt=said)], rules="vllm-v1", token_budget=6)["r0"]) == 3
