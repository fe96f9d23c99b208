import dataclasses

import pytest

from pycore.request import Request, Sequence, Status


@pytest.mark.parametrize(
    ("arrival", "prompt", "output"), [(0, 0, 1), (0, 1, 0), (0, -3, 1), (-1, 1, 1)], ids=str
)
def test_a_request_without_tokens_or_before_the_start_is_refused(arrival, prompt, output):
    with pytest.raises(ValueError, match="request 7: prompt"):
        Request(7, arrival, prompt, output)


@pytest.mark.parametrize(
    ("num_seqs", "decoding", "most"),
    [(0, "parallel", 16), (17, "beam", 16), (0, "plain", 1), (2, "plain", 1)],
)
def test_a_number_of_sequences_out_of_range_is_refused(num_seqs, decoding, most):
    with pytest.raises(
        ValueError, match=f"{num_seqs} sequences by {decoding} decoding, expected 1 to {most}$"
    ):
        Request(7, 0, 4, 4, num_seqs, decoding)


def test_an_unknown_decoding_is_refused():
    with pytest.raises(ValueError, match="request 7: diverse decoding, expected one of"):
        Request(7, 0, 4, 4, 2, "diverse")


def test_a_prefix_longer_than_the_prompt_is_refused():
    with pytest.raises(ValueError, match="request 7: a shared prefix of 5 tokens, expected 0 to 4"):
        Request(7, 0, 4, 4, shared_prefix=5)


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


def test_an_answer_of_another_length_or_to_several_sequences_is_refused():
    with pytest.raises(ValueError, match="an answer of 2 tokens"):
        Request(0, 0, 1, 3, answer=(7, 8))
    with pytest.raises(ValueError, match="to 2 sequences"):
        Request(0, 0, 1, 1, 2, "parallel", answer=(7,))
