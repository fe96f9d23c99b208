"""A sentence with fields in it: `{n}` stands for a value, `{n|block|blocks}` for a number and its noun."""

import re
from collections.abc import Iterable, Mapping
from operator import itemgetter

_FIELD = re.compile(r"\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}")

# By name of a field, how its value is shown; by (name, one, other), the same with the noun that goes with it.
Shown = dict[str | tuple[str, str, str], str]


def as_shown(fields: Mapping[str, object]) -> Shown:
    """How the values of fields are shown, the same in every language.

    >>> as_shown({"total": 1024, "seq": "r3"})
    {'total': '1,024', 'seq': 'r3'}
    """
    return {
        # Most are small numbers; to look for commas takes three times as long.
        name: str(value) if type(value) is not int or -1000 < value < 1000 else f"{value:,}"
        for name, value in fields.items()
    }


class Template:
    """A sentence taken apart, so that it can be filled a thousand times; static/text.js does the same."""

    __slots__ = ("_nouns", "_pick", "_words")

    def __init__(self, text: str) -> None:
        """Args: text: as it stands in a catalogue."""
        first, *rest = _FIELD.split(text)
        fields = list(zip(*[iter(rest)] * 4, strict=True))
        keys = [name if one is None else (name, one, other) for name, one, other, _ in fields]
        self._words = "%s".join([words.replace("%", "%%") for words in (first, *rest[3::4])])
        self._nouns = [key for key in keys if isinstance(key, tuple)]
        self._pick = _values(keys)

    def fill(self, fields: Mapping[str, object], shown: Shown) -> str:
        """The sentence.

        Args:
            fields: values by name; there may be more than are named.
            shown: how they are shown; numbers with their nouns are added to it.

        Raises:
            KeyError: a field that is named is missing.

        >>> fields = {"n": 1, "total": 1024}
        >>> Template("{n|block|blocks} of {total}").fill(fields, as_shown(fields))
        '1 block of 1,024'
        """
        for key in self._nouns:
            name, one, other = key
            shown[key] = f"{shown[name]} {one if fields[name] == 1 else other}".rstrip()
        return self._words % self._pick(shown)


def _values(keys: Iterable) -> itemgetter:
    """Gets the values of `keys` as a tuple, however many they are."""
    return itemgetter(*keys) if keys else lambda shown: ()
