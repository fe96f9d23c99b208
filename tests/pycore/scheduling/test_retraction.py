"""Who gives way when the pool is full, and how admission is held back afterwards."""

import pytest

from pycore.request import Request, Sequence
from pycore.scheduling.retraction import NewTokenRatio, SetAside, fewest_outputs


def running(*lengths: tuple[int, int]) -> list[Sequence]:
    """Sequences of (prompt, generated) tokens."""
    seqs = []
    for i, (prompt, generated) in enumerate(lengths):
        seqs.append(Sequence(Request(i, 0, prompt, 100)))
        seqs[-1].num_tokens += generated
    return seqs


def test_the_fewest_generated_tokens_give_way():
    assert fewest_outputs(running((5, 9), (5, 3), (5, 7))).id == 1


def test_among_equals_the_longest_prompt_and_then_the_latest_gives_way():
    assert fewest_outputs(running((5, 3), (8, 3), (6, 3))).id == 1
    assert fewest_outputs(running((8, 3), (8, 3))).id == 1


def test_the_ratio_falls_to_its_floor_and_stays_there():
    ratio = NewTokenRatio()
    for _ in range(700):
        ratio.step()
    assert ratio.value == ratio.floor == pytest.approx(0.098)


def test_a_retraction_sets_it_from_what_was_generated():
    ratio = NewTokenRatio()
    ratio.retracted(generated=[10, 30], may_generate=[99, 60])
    assert ratio.value == (40 + 2 * 20) / 160


def test_it_is_never_more_than_one():
    assert NewTokenRatio(conservativeness=2.0).value == 1.0
    ratio = NewTokenRatio()
    ratio.retracted(generated=[50], may_generate=[50])
    assert ratio.value == 1.0


def test_a_negative_conservativeness_is_refused():
    with pytest.raises(ValueError, match="0 or more, not -1"):
        NewTokenRatio(-1)


def test_of_a_retracted_request_that_comes_back_all_that_it_may_generate_is_set_aside_in_that_pass():
    again, new = Sequence(Request(0, 0, 5, 30)), Sequence(Request(1, 0, 5, 5))
    again.num_tokens += 20
    pass_over_queue = SetAside()
    pass_over_queue.begin([])
    assert pass_over_queue.leaves([again], tokens=25, page_size=1, free=66)
    pass_over_queue.admitted([again], page_size=1)
    assert not pass_over_queue.leaves([new], tokens=5, page_size=1, free=66 - 25)  # as SGLang 0.5.23 decides
    assert pass_over_queue.leaves([new], tokens=5, page_size=1, free=66 - 25 + 2)
