import pytest

from pycore.attention.sampling import margin
from pycore.attention.transformer import Transformer
from tests.pycore.attention.serving import Job, alone, job, paged_allocator, paged_store, serve

MODEL = Transformer()
TOLERANCE = 5e-6  # how far paged logits may be from dense ones


def six_requests() -> list[Job]:
    """Prompts and outputs of all lengths, arriving while others are under way or gone."""
    sizes = [(9, 20, 0), (17, 6, 0), (1, 30, 2), (33, 12, 5), (4, 1, 9), (22, 25, 14)]
    return [job(i, prompt, output, arrival) for i, (prompt, output, arrival) in enumerate(sizes)]


@pytest.mark.parametrize("order", ["ascending", "shuffled", "lifo"])
@pytest.mark.parametrize("block_size", [1, 4, 16])
def test_six_requests_that_arrive_at_different_iterations_get_the_tokens_they_get_alone(block_size, order):
    jobs = six_requests()
    allocator = paged_allocator(192 // block_size, block_size, order)
    most = serve(MODEL, paged_store(MODEL.shape, allocator), allocator, jobs)
    assert most >= 4
    assert allocator.pool.num_free == allocator.pool.num_blocks
    for one in jobs:
        assert one.tokens == alone(MODEL, one)[0]


def test_every_choice_of_these_runs_leads_by_far_more_than_rounding():
    margins = [margin(logits) for one in six_requests() for logits in alone(MODEL, one)[1]]
    assert min(margins) > 50 * TOLERANCE
    assert sorted(margins)[len(margins) // 2] > 0.1
