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
    """To be filled with the fields that show, once for each kind: whole runs are told apart by these words."""
    return f"{kind.__name__}({', '.join([f'{name}=%r' for name in kind._fields[:-hidden]])})"
