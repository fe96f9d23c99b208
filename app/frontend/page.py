"""The whole page as HTML: one template for the static site and for `panel serve`.

The template holds no logic and no inline script. What the scripts need stands in it as JSON: the texts, the
colours, the settings' bounds and defaults, and two recordings of the default load, so that the page plays and
compares before Python is there.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

from bokeh.document import Document
from bokeh.embed import json_item
from bokeh.plotting import figure
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, select_autoescape
from markupsafe import Markup

from app.backend.combinations import combinations
from app.backend.experiment import declarations
from app.backend.handle import Handler
from app.backend.replay_loads import BUILT_IN
from app.backend.settings import HELD_TOKENS, SETTINGS
from app.backend.texts import LANGUAGES, OF_COMMANDS
from app.frontend.pool_grid import pool_grid
from app.frontend.radix_tree import radix_tree
from app.frontend.sizing_bar import memory_bar
from app.frontend.tab_data import tab_data, tab_figures
from app.frontend.theme import LABEL_COLOURS, REQUEST_COLOURS, SCHEMES
from app.frontend.timeline import MARKS, timeline
from app.frontend.waste_bar import waste_bar
from pycore.experiments import by_subject

STATIC = Path(__file__).parents[2] / "static"
PAGE_CATALOGUES = ("page", "tabs", "*experiments", "replay", "sizing")  # patterns of file names
OF_FIRST_SCREEN = "page."  # texts that the page opens with
TABS_FILE = "tabs.json"
# The page's style sheets in their order, later ones over earlier ones; and the one that they are joined to.
STYLE_SHEETS = tuple(
    f"{name}.css"
    for name in (
        "theme",
        "frame",
        "workbench",
        "settings",
        "counters",
        "pool",
        "tables",
        "transport",
        "dialogs",
        "widths",
        "narrow",
        "panels",
        "experiments",
        "report_tables",
        "replay",
        "sizing",
        "pictures",
    )
)
STYLE = "style.css"
FETCHED = ("sw.js", "bokeh.js", "python/numpy.whl", TABS_FILE)  # files that scripts ask for themselves
BROUGHT_ALONG = ("bokeh.js", "server")  # a session's own document needs it from the start
TABS = ("experiments", "replay", "sizing")  # the tabs other than the first, each with a template of its name
FIRST_MODE = "contiguous"  # the page opens on the failure; paging is one click away


@cache
def page_texts(lang: str) -> dict[str, str]:
    """What the page itself says in `lang`. Sentences on events, notices and claims come along with a
    response."""
    texts: dict[str, str] = {}
    for pattern in PAGE_CATALOGUES:
        for path in sorted((STATIC / "text" / lang).glob(f"{pattern}.json")):
            texts.update(json.loads(path.read_text(encoding="utf-8")))
    return texts


@cache
def default_responses() -> tuple[dict, ...]:
    """What the handler answers for the default settings, contiguous and paged."""
    return tuple(
        Handler().handle({"kind": "simulate", "settings": {"mode": mode}}) for mode in (FIRST_MODE, "paged")
    )


def page_data(transport: str, urls: Mapping[str, str]) -> dict:
    """What the scripts are told by the page.

    Args:
        transport: "worker" (static site) or "server" (panel serve).
        urls: logical file name -> address relative to the page.
    """
    return {
        "transport": transport,
        "urls": {name: urls[name] for name in FETCHED if name in urls and (name, transport) != BROUGHT_ALONG},
        "texts": _texts(lambda key: key.startswith(OF_FIRST_SCREEN)),
        "requests": {"fill": REQUEST_COLOURS, "label": LABEL_COLOURS},
        "schemes": SCHEMES,
        "marks": MARKS,
        "held_tokens": HELD_TOKENS,
        "combinations": combinations(),
        "figures": {"prefixes": json_item(radix_tree())},  # opened once a run has a prefix cache
        "responses": default_responses(),
    }


def _texts(wanted: Callable[[str], bool]) -> dict[str, dict[str, str]]:
    return {
        lang: {key: words for key, words in page_texts(lang).items() if wanted(key)} for lang in LANGUAGES
    }


def tabs(transport: str, kept: Path | None = None) -> dict:
    """What the tabs other than the first are told once one of them is opened.

    Args:
        transport: see page_data.
        kept: see default_reports.
    """
    return {
        "texts": _texts(lambda key: not key.startswith((OF_FIRST_SCREEN, OF_COMMANDS))),
        "panels": {tab: panel(tab, transport) for tab in TABS},
        **tab_data(transport, kept),
    }


def panel(tab: str, transport: str) -> str:
    """The inside of a tab other than the first, as HTML.

    Args:
        tab: one of TABS.
        transport: see page_data.
    """
    filled = {
        "settings": SETTINGS["simulate"],
        "replay_settings": SETTINGS["replay"],
        "replay_loads": list(BUILT_IN),
        "sizing_settings": SETTINGS["sizing"],
        "experiments": declarations(),
        "subjects": list(by_subject()),
        "transport": transport,
        "file": f"{tab}.html",
    }
    return _template("tab.html", filled).render()


def tab_files(kept: Path) -> dict[str, bytes]:
    """What the static site serves beside the page, by logical name: fetched when a tab is first opened.

    Args:
        kept: see default_reports.
    """
    plain = json.dumps(tabs("worker", kept), ensure_ascii=False, separators=(",", ":"))
    return {TABS_FILE: plain.encode("utf-8")}


def json_script(data: object) -> Markup:
    """`data` as JSON that is safe inside a <script type="application/json"> element."""
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(plain.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def figures() -> dict[str, list[figure]]:
    """New figures of the Simulate tab: what the page plays with, and what is opened once it plays."""
    return {"first": [pool_grid()], "later": [waste_bar(), timeline()]}


def _items(opened: list[figure]) -> dict:
    """Figures as a document of their own, with where each of them stands in the page."""
    document = Document()
    for each in opened:
        document.add_root(each)
    # Named by hand, not by Bokeh: its names are random, and the same sources shall give the same page.
    places = {root.id: f"bokeh-{root.name}" for root in document.roots}
    item = {"docid": "page", "roots": places, "root_ids": list(places)}
    return {"docs": {"page": document.to_json(deferred=False)}, "item": item}


def bokeh_models() -> set[str]:
    """Names of the models that the documents of the page's figures are made of, in whichever tab."""
    every = [*chain(*figures().values()), radix_tree(), memory_bar(), *tab_figures().values()]
    return set(chain(*(_object_names(json_item(each)) for each in every)))


def _object_names(node: object) -> Iterator[str]:
    """Names of what a document's JSON says is an object of a class."""
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node["name"]
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _object_names(each)


def template(transport: str, urls: Mapping[str, str]) -> Template:
    """The page, filled in.

    Its figures are documents of their own, in the page as JSON. Under a server that keeps them out of the
    session, so that stepping through a recording sends nothing over the websocket; the session's only root is
    "channel" (see app/main.py), for which the server puts `roots` and `plot_script` into the template.

    Args:
        transport: see page_data.
        urls: logical file name ("boot.js", "style.css", "bokeh.js", …) -> address relative to the page. Where
            TABS_FILE is not among them, the page carries its content; where STYLE is not, STYLE_SHEETS are.
    """
    filled = {
        "settings": SETTINGS["simulate"],
        "transport": transport,
        "urls": urls,
        "style_sheets": (STYLE,) if STYLE in urls else STYLE_SHEETS,
        "data": json_script(page_data(transport, urls)),
        "tabs": None if TABS_FILE in urls else json_script(tabs(transport)),
        "documents": json_script({when: _items(opened) for when, opened in figures().items()}),
    }
    return _template("page.html", filled)


def _template(name: str, filled: Mapping[str, object]) -> Template:
    environment = Environment(
        loader=FileSystemLoader(STATIC),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name, globals={"text": page_texts("en").__getitem__, **filled})


def render_static(urls: Mapping[str, str]) -> str:
    """index.html of the static site.

    Args:
        urls: see template.
    """
    return template("worker", urls).render()
