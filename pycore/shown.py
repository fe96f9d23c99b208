"""Words for small records: a NamedTuple without the fields that are of no interest in most runs."""

from functools import cache


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
