"""BokehJS with no more than the models that the page's figures are made of.

The library registers some 500 models when it is run, of which the page draws with two dozen. Its file is a
list of functions, one a module, that take each other by their place in it: `function _(e,…){… e(17) …}`.
Those that no wanted model takes, directly or not, are left out; the others stay as and where they are.
"""

import json
import re
from collections.abc import Iterable

from app.site.build_error import BuildError

_LIST = re.compile(r"\n\}\)\n\(\[\n(?P<modules>.*)\n\], 0, (?P<places>\{[^{}]*\}), \{\}\);\}\);", re.DOTALL)
_BETWEEN = re.compile(r",\n(?=function _\()")
_TAKES_BY = re.compile(r"function _\((?P<name>[\w$]+),")

# Names of modules: what all are written with, what a page sees of the library, where models are looked up.
_HELPERS, _INTERFACE, _REGISTRY = "tslib", "index", "base"
_MODELS, _OF_ITS_OWN_ELEMENTS = "models/", "models/dom/"


def bokeh_subset(script: bytes, models: Iterable[str]) -> bytes:
    """The library with fewer models.

    Args:
        script: bokeh.min.js.
        models: names of the models that documents are made of, as in their JSON.

    Raises:
        BuildError: the library is not written as expected, or has no such model.
    """
    text = script.decode("utf-8")
    found = _LIST.search(text)
    if found is None:
        raise BuildError("bokeh.min.js is no list of modules as expected; is the pinned bokeh installed?")
    modules = _BETWEEN.split(found["modules"])
    places = json.loads(found["places"])
    registered = sorted({place for name in models for place in _places_of(name, modules, places)})
    main = (
        f"function _(t,e,n,o){{o();t({places[_HELPERS]}).__exportStar(t({places[_INTERFACE]}),n);"
        f"for(const m of[{','.join(f't({place})' for place in registered)}])"
        f"t({places[_REGISTRY]}).register_models(m)}}"
    )
    kept = _reached([places[_HELPERS], places[_INTERFACE], places[_REGISTRY], *registered], modules)
    left = [main, *(module if place in kept else "0" for place, module in enumerate(modules) if place)]
    named = {name: place for name, place in places.items() if place in kept or not place}
    start, end = found.span("modules")
    tail = text[end:].replace(found["places"], json.dumps(named, separators=(",", ":")), 1)
    return (text[:start] + ",\n".join(left) + tail).encode("utf-8")


def _places_of(name: str, modules: list[str], places: dict[str, int]) -> list[int]:
    """Where a model is defined; nowhere if the library registers it in any case."""
    defined = f'.__name__="{name}"'
    found = {
        path: place
        for path, place in places.items()
        if not path.startswith(_OF_ITS_OWN_ELEMENTS) and defined in modules[place]
    }
    if not found:
        raise BuildError(f"bokeh.min.js holds no model {name!r}, which the page's figures are made of.")
    return [place for path, place in found.items() if path.startswith(_MODELS)]


def _reached(pending: list[int], modules: list[str]) -> set[int]:
    reached: set[int] = set()
    while pending:
        place = pending.pop()
        if place not in reached:
            reached.add(place)
            take = re.escape(_TAKES_BY.match(modules[place])["name"])
            taken = re.findall(rf"(?<![\w$.]){take}\((\d+)\)", modules[place])
            # A call with a number of something else by the same name keeps a module too many, or names none.
            pending += [each for each in map(int, taken) if each < len(modules)]
    return reached
