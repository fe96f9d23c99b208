"""Percentiles of very many integers are those of a sorted list of them."""

from hypothesis import given
from hypothesis import strategies as st

from pycore.metrics import percentile, spread
from pycore.samples import Samples

PIECES = st.lists(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9), max_size=20), max_size=6)


@given(PIECES, st.booleans())
def test_samples_in_pieces_are_distributed_like_the_list_of_them(pieces, last_is_open):
    samples, values = Samples(), []
    for i, piece in enumerate(pieces):
        for value in piece:
            samples.append(value)
            values.append(value)
        if not (last_is_open and i == len(pieces) - 1):
            samples.close_piece()
    assert len(samples) == len(values)
    assert samples.spread() == spread(values)
    expected = [percentile(values, percent) for percent in range(101)] if values else []
    assert samples.at(range(101)) == expected


def test_looking_at_samples_changes_nothing():
    samples = Samples()
    for value, smallest in ((5, 5), (1, 1), (3, 1), (0, 0)):
        samples.append(value)
        assert samples.at((0, 100)) == [smallest, 5]
