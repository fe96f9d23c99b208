"""Words for small records: a NamedTuple without the fields that are of no interest in most runs."""


def shown(record: tuple, hidden: int) -> str:
    """What `repr` says of a NamedTuple, but for its last `hidden` fields.

    >>> from pycore.memory.waste import Waste
    >>> shown(Waste(1, 2, 3, 4, 5, 6), hidden=4)
    'Waste(real=1, reserved=2)'
    """
    names = record._fields[: len(record) - hidden]
    return f"{type(record).__name__}({', '.join([f'{name}={getattr(record, name)!r}' for name in names])})"
