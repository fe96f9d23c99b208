"""Cells of trace files: exact numbers, stamps, bounded memory."""

import random

from hypothesis import given
from hypothesis import strategies as st

from pycore.workload.trace_cell import MAX_LENGTH, LengthTable, number_reader, scaled, stamp_ns, stamp_reader

stamp = st.builds(
    "2024-{:02d}-10 12:{:02d}:{:02d}{}{}".format,
    st.integers(5, 6), st.integers(0, 1), st.integers(0, 61),
    st.sampled_from(["", ".5", ".0000001", ".123456789", ".1234567899", ".", ".1x"]),
    st.sampled_from(["", "+00:00", "-05:00", "+0530", "Z", "+99:00"]),
)  # fmt: skip


@given(st.lists(stamp, max_size=20))
def test_remembering_the_minute_never_changes_a_stamp(stamps):
    def outcome(read, text):
        try:
            return read(text)
        except ValueError as bad:
            return bad.args

    read = stamp_reader()
    assert [outcome(read, text) for text in stamps] == [outcome(stamp_ns, text) for text in stamps]


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12))
def test_decimal_text_is_scaled_as_by_decimal(number):
    exact = number.scaleb(9)
    value, is_exact = scaled(str(number), 9)
    assert value == int(exact)
    assert is_exact == (exact == int(exact))
    if abs(number) <= 10**10:
        assert number_reader("s")(str(number)) == value


def test_length_table_stays_bounded():
    lengths = LengthTable()
    for value in random.Random(1).sample(range(1, MAX_LENGTH), 70_000):
        assert lengths[str(value)] == value
    assert len(lengths) == 1 << 16
