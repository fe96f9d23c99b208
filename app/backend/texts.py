"""All that the user reads: static/text/<language>/*.json, flat keys, templates with fields.

In the browser a run is told from the catalogues of runs alone, which lie in memory from the start; the first
sentence of anything else fetches all of them, as a module that the build makes (app/site/python_parts.py).
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "zh")
OF_RUNS = ("events", "notices")  # catalogues from which runs are told, and what is wrong with a request
OF_COMMANDS = "cli."  # keys of what only the command line says
_FOLDER = Path(__file__).parents[2] / "static" / "text"
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
_FIELD = re.compile(r"\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}")


@cache
def catalogue(lang: str) -> Mapping[str, str]:
    """All templates of a language.

    Raises:
        ImportError: in the browser, if they cannot be fetched.
    """
    try:
        from app.backend.shipped_texts import TEXTS
    except ModuleNotFoundError:
        return merged(sorted((_FOLDER / lang).glob("*.json")))
    return TEXTS[lang]


@cache
def _catalogue_of_runs(lang: str) -> Mapping[str, str]:
    return merged([_FOLDER / lang / f"{name}.json" for name in OF_RUNS])


def merged(files: Iterable[Path]) -> dict[str, str]:
    """The templates of catalogue files, by key.

    Raises:
        ValueError: a key stands in two of them.
    """
    entries: dict[str, str] = {}
    for path in files:
        found = json.loads(path.read_text(encoding="utf-8"))
        twice = entries.keys() & found.keys()
        if twice:
            raise ValueError(f"{path}: keys that another file has too: {sorted(twice)}")
        entries.update(found)
    return entries


def text(lang: str, key: str, **fields: object) -> str:
    """The sentence `key` in `lang`; `{n}` is replaced by field n, `{n|block|blocks}` also picks the noun.

    Raises:
        KeyError: no such key, or a field that the template names is missing.

    >>> text("en", "event.Arrived", seq="r3", prompt=1, output=7)
    'r3 arrived: 1 prompt token, 7 tokens to generate.'
    """
    return sentence(lang, key, fields)


def sentence(lang: str, key: str, fields: Mapping[str, object]) -> str:
    """The same with the fields at hand as a mapping; it may have more than the template names."""
    template = _catalogue_of_runs(lang).get(key)
    return fill(catalogue(lang)[key] if template is None else template, fields)


def fill(template: str, fields: Mapping[str, object]) -> str:
    """Puts `fields` into a template; static/text.js does the same in the browser.

    >>> fill("{n|block|blocks} of {total}", {"n": 1, "total": 1024})
    '1 block of 1,024'
    """

    filled, parts = _parts(template)
    for name, one, other, words in parts:
        value = fields[name]
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        if one is not None:
            shown = f"{shown} {one if value == 1 else other}".rstrip()
        filled += shown + words
    return filled


@cache
def _parts(template: str) -> tuple[str, tuple[tuple[str, str | None, str | None, str], ...]]:
    """The words before the first field; then each field, its two nouns, and the words behind it.

    A run is told in a thousand sentences made from some twenty templates, so each is taken apart once.

    >>> _parts("{n|block|blocks} of {total}.")
    ('', (('n', 'block', 'blocks', ' of '), ('total', None, None, '.')))
    """
    first, *rest = _FIELD.split(template)
    return first, tuple(zip(*[iter(rest)] * 4, strict=True))


def shown_range(expected: str) -> str:
    """What values will do, as it is shown: ranges of the core such as `1..10000000` are spelt out.

    >>> shown_range("1..10000000"), shown_range("paged, contiguous")
    ('1 … 10,000,000', 'paged, contiguous')
    """
    return _RANGE.sub(lambda ends: f"{int(ends[1]):,} … {int(ends[2]):,}", expected)


def both(key: str, **fields: object) -> dict[str, str]:
    """The sentence in every language, by language."""
    return {lang: text(lang, key, **fields) for lang in LANGUAGES}
