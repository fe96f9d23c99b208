"""Our scheduler under vllm-v1 rules where random cases once told it from the engine's own.

What is expected is what the scheduler of vLLM 0.33.0 returned: tokens scheduled, a step each.
"""

from tests.pycore.golden_engines.test_vllm_v1_scheduler import replay_of


def request(id: str, tokens: list[int], max_tokens: int, at: int = 0, priority: int = 0) -> dict:
    return {"id": id, "tokens": tokens, "max_tokens": max_tokens, "at": at, "priority": priority}


def scheduled(num_blocks: int, block_size: int, requests: list[dict], **settings) -> list[dict[str, int]]:
    """Tokens by request, until nobody is left."""
    given = {"num_blocks_incl_null": num_blocks, "block_size": block_size, "requests": requests, **settings}
    replay, steps = replay_of(given), []
    while not steps or not replay.engine.done:
        replay.step()
        batch = replay.runner.batch
        pairs = zip(batch.seqs, batch.num_new, strict=True)
        steps.append({replay.name(seq.request.id): num_new for seq, num_new in pairs})
    return steps


def test_by_priority_those_behind_one_who_preempted_itself_go_on():
    steps = scheduled(
        14,
        2,
        [request("less", list(range(19)), 7, priority=2), request("more", [50], 4, at=4)],
        policy="priority",
    )
    alone, both = {"less": 1}, {"less": 1, "more": 1}
    more = {"more": 1}  # `less`, the first of those that run, finds no block and is the victim
    assert steps == [{"less": 19}, alone, alone, alone, both, both, more, more, {"less": 3}]


def test_the_head_gets_in_as_soon_as_a_generated_token_fills_a_block_that_it_shares():
    prompt = [0, 1, 2, 3, 10_000, 10_001, 10_002, 10_003, *range(50, 59)]
    steps = scheduled(6, 4, [request("first", [0, 1, 2, 3], 8), request("next", prompt, 2, at=1)])
    alone = {"first": 1}
    assert steps[:4] == [{"first": 4}, alone, alone, alone]
    assert steps[4:] == [{"first": 1, "next": 9}, alone, alone, alone, {"next": 2}]


def test_the_head_gets_in_as_soon_as_a_piece_of_a_prompt_fills_a_block_that_it_shares():
    requests = [request("first", [2, 2], 1), request("next", [2, 2, 0, 2, 2], 1)]
    steps = scheduled(4, 2, requests, long_prefill_token_threshold=1)
    assert steps == [{"first": 1}, {"first": 1, "next": 1}, {"next": 2}]


def test_a_long_prompt_is_computed_in_pieces_while_somebody_else_is_there():
    requests = [request("a", list(range(20)), 2), request("b", list(range(100, 112)), 2)]
    steps = scheduled(20, 4, requests, long_prefill_token_threshold=5, max_batched=8)
    assert steps == [{"a": 5, "b": 3}] * 4 + [{"a": 1, "b": 1}]
    assert scheduled(20, 4, requests[:1], long_prefill_token_threshold=5) == [{"a": 20}, {"a": 1}]
