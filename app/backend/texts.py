"""All that the user reads: static/text/<language>/*.json, flat keys, templates with fields.

In the browser a run is told from the catalogues of runs alone, which lie in memory from the start; the first
sentence of anything else fetches all of them, as a module that the build makes (app/site/python_parts.py).
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from app.backend.template import Template, as_shown

LANGUAGES = ("en", "zh")
OF_RUNS = ("events", "notices")  # catalogues from which runs are told, and what is wrong with a request
OF_COMMANDS = "cli."  # keys of what only the command line says
_FOLDER = Path(__file__).parents[2] / "static" / "text"
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


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
    """The sentence `key` in `lang`; see Template.

    Raises:
        KeyError: no such key, or a field that the template names is missing.

    >>> text("en", "event.Arrived", seq="r3", prompt=1, output=7)
    'r3 arrived: 1 prompt token, 7 tokens to generate.'
    """
    return _template(lang, key).fill(fields, as_shown(fields))


@cache
def _template(lang: str, key: str) -> Template:
    found = _catalogue_of_runs(lang).get(key)
    return Template(catalogue(lang)[key] if found is None else found)


def shown_range(expected: str) -> str:
    """What values will do, as it is shown: ranges of the core such as `1..10000000` are spelt out.

    >>> shown_range("1..10000000"), shown_range("paged, contiguous")
    ('1 … 10,000,000', 'paged, contiguous')
    """
    return _RANGE.sub(lambda ends: f"{int(ends[1]):,} … {int(ends[2]):,}", expected)


def both(key: str, **fields: object) -> dict[str, str]:
    """The sentence in every language, by language."""
    return sentences(key, fields)


def sentences(
    key: str, fields: Mapping[str, object], phrases: Mapping[str, Mapping[str, str]] | None = None
) -> dict[str, str]:
    """The same with the fields as a mapping.

    Args:
        key, fields: see `text`.
        phrases: further fields that are phrases of their own: by language, and then by name.
    """
    shown = as_shown(fields)
    filled = {}
    for lang, template in _templates(key):
        if phrases is not None:
            shown |= phrases[lang]
        filled[lang] = template.fill(fields, shown)
    return filled


@cache
def _templates(key: str) -> tuple[tuple[str, Template], ...]:
    return tuple((lang, _template(lang, key)) for lang in LANGUAGES)
