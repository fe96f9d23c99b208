"""Small records: NamedTuples that are made by the thousand, and the words for them."""

from functools import cache

# `of_fields(Kind, (1, 2))` is `Kind(1, 2)` in less than half the time, which is felt in a recorded run. The
# fields must be all that the kind has, in order: nobody counts them before the record is looked at.
of_fields = tuple.__new__


def shown(record: tuple, hidden: int) -> str:
    """What `repr` says of a NamedTuple, but for its last `hidden` fields.

    >>> from pycore.memory.waste import Waste
    >>> shown(Waste(1, 2, 3, 4, 5, 6), hidden=4)
    'Waste(real=1, reserved=2)'
    """
    return _pattern(type(record), hidden) % record[:-hidden]


@cache
def _pattern(kind: type, hidden: int) -> str:
    """What the fields that show are put into; made once a kind, as digests are made of these words."""
    return f"{kind.__name__}({', '.join([f'{name}=%r' for name in kind._fields[:-hidden]])})"
