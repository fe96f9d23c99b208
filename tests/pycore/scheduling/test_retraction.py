"""Who gives way when the pool is full, and how admission is held back afterwards."""

import pytest

from pycore.request import Request, Sequence
from pycore.scheduling.retraction import NewTokenRatio, fewest_outputs


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
