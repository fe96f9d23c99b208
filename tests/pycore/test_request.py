import dataclasses

import pytest

from pycore.request import Request, Sequence, Status


@pytest.mark.parametrize(
    ("arrival", "prompt", "output"), [(0, 0, 1), (0, 1, 0), (0, -3, 1), (-1, 1, 1)], ids=str
)
def test_a_request_without_tokens_or_before_the_start_is_refused(arrival, prompt, output):
    with pytest.raises(ValueError, match="request 7: prompt"):
        Request(7, arrival, prompt, output)


def test_the_last_output_token_needs_no_slot():
    request = Request(0, 0, prompt_len=5, output_len=3)
    assert (request.total_len, request.kv_len) == (8, 7)


def test_a_request_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Request(0, 0, 1, 1).prompt_len = 2


def test_a_sequence_starts_with_its_prompt_uncomputed():
    seq = Sequence(Request(4, 0, prompt_len=6, output_len=2))
    assert (seq.id, seq.num_tokens, seq.num_computed, seq.num_uncomputed, seq.num_generated) == (
        4,
        6,
        0,
        6,
        0,
    )
    assert seq.status is Status.WAITING
    assert repr(seq) == "<r4 waiting 0/6 tokens>"
