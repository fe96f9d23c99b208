"""The figures: every model that a script asks for by name is there, once."""

import re
from itertools import chain

from bokeh.document import Document

from app.frontend.page import STATIC, figures
from app.frontend.theme import LABEL_COLOURS, PARTS, REQUEST_COLOURS, SCHEMES
from app.frontend.timeline import MARKS


def names_in_the_document() -> list[str]:
    document = Document()
    for each in chain(*figures().values()):
        document.add_root(each)
    return sorted(each.name for each in document.models if each.name)


def names_in_the_scripts() -> set[str]:
    families = {"part": PARTS}
    found = set()
    for script in STATIC.glob("*.js"):
        source = script.read_text(encoding="utf-8")
        for name in re.findall(
            r'(?:model|setData|setGlyph|\.set)\(["`]((?:pool|waste|timeline)[^"`]*)["`]', source
        ):
            family = re.search(r"\$\{(\w+)\}", name)
            choices = families[family[1]] if family else [""]
            found |= {name.replace(family[0], choice) if family else name for choice in choices}
    return found


def test_names_are_unique():
    names = names_in_the_document()
    assert len(names) == len(set(names))


def test_scripts_ask_only_for_models_that_exist():
    asked = names_in_the_scripts()
    assert {"pool", "pool.spans", "waste.parts", "timeline.marks"} <= asked
    assert asked - set(names_in_the_document()) == set()


def test_both_schemes_know_every_part_and_mark():
    assert SCHEMES["light"].keys() == SCHEMES["dark"].keys() >= {*PARTS, *MARKS}


def _luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_label_stands_out_from_its_colour():
    assert len(set(REQUEST_COLOURS)) == 16
    for fill, label in zip(REQUEST_COLOURS, LABEL_COLOURS, strict=True):
        dark, bright = sorted((_luminance(fill), _luminance(label)))
        assert (bright + 0.05) / (dark + 0.05) >= 4.5, fill
