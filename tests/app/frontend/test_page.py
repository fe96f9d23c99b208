"""The page as HTML: what the scripts rely on is there, and nothing that the policy refuses."""

import json
import re
from html.parser import HTMLParser

import pytest

from app.backend.settings import SETTINGS
from app.frontend.page import (
    STATIC,
    STYLE,
    STYLE_SHEETS,
    TABS,
    json_script,
    page_texts,
    panel,
    render_static,
    tabs,
)

URLS = {name: f"assets/{name}" for name in ("bokeh.js", *(path.name for path in STATIC.glob("*.[jc]s*")))}


class Reader(HTMLParser):
    """Collects elements, and the content of scripts."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[tuple[dict[str, str], str]] = []
        self._in_script = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.elements.append((tag, given))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append((given, ""))

    def handle_endtag(self, tag):
        self._in_script = False

    def handle_data(self, data):
        if self._in_script:
            attrs, content = self.scripts[-1]
            self.scripts[-1] = (attrs, content + data)

    @property
    def data(self) -> dict:
        """What the scripts are told by the page."""
        (content,) = [content for attrs, content in self.scripts if attrs.get("id") == "page-data"]
        return json.loads(content)

    def all(self, attribute: str) -> list[str]:
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]


@pytest.fixture(scope="module")
def html() -> str:
    return render_static(URLS)


@pytest.fixture(scope="module")
def page(html) -> Reader:
    """The page with every tab opened."""
    return Reader(html + "".join(panel(tab, "worker") for tab in TABS))


def test_no_script_is_inline_and_no_handler_stands_in_an_attribute(page):
    for attrs, content in page.scripts:
        assert attrs.get("type") == "application/json" or (attrs["src"] and not content.strip())
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]


def test_files_are_asked_for_by_the_addresses_given(page):
    sources = [attrs["src"] for attrs, _ in page.scripts if "src" in attrs]
    assert sources == [URLS["python_worker.js"], URLS["boot.js"]]
    sheets = [address for address in page.all("href") if address.endswith(".css")]
    assert sheets == [URLS[name] for name in STYLE_SHEETS]


def test_every_style_sheet_has_its_place_in_the_order(page):
    assert sorted(STYLE_SHEETS) == sorted(path.name for path in STATIC.glob("*.css"))


def test_style_sheets_that_were_joined_are_asked_for_as_one():
    urls = {name: url for name, url in URLS.items() if name not in STYLE_SHEETS} | {STYLE: "assets/style.css"}
    sheets = [address for address in Reader(render_static(urls)).all("href") if address.endswith(".css")]
    assert sheets == ["assets/style.css"]


def test_bokeh_is_fetched_at_once_and_run_once_a_script_asks_for_it(page):
    (hint,) = [attrs for tag, attrs in page.elements if tag == "link" and attrs["href"] == URLS["bokeh.js"]]
    assert (hint["rel"], hint["as"]) == ("preload", "script")
    assert page.data["urls"]["bokeh.js"] == URLS["bokeh.js"]


def test_the_same_sources_give_the_same_page(html):
    # Bokeh counts its models from 1 in each process; the site is built in one of its own.
    without_ids = [re.sub(r'"p\d+"', '"p"', each) for each in (render_static(URLS), html)]
    assert without_ids[0] == without_ids[1]


def test_ids_are_unique_and_everything_pointed_to_exists(page):
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    pointed = {
        each
        for attribute in ("aria-labelledby", "aria-describedby", "aria-controls", "for", "data-copy")
        for value in page.all(attribute)
        for each in value.split()
    }
    assert pointed <= set(ids)


def test_every_text_that_the_page_or_a_script_names_is_in_the_catalogue(page):
    named = {key for name in ("data-text", "data-label", "data-title") for key in page.all(name)}
    for script in STATIC.glob("*.js"):
        named |= set(re.findall(r'"(page\.[\w.]+\w)"', script.read_text(encoding="utf-8")))
    assert named - page_texts("en").keys() == set()


def test_one_heading_of_the_first_level_and_one_main(page):
    tags = [tag for tag, _ in page.elements]
    assert tags.count("h1") == tags.count("main") == 1


def test_every_setting_has_a_control_with_its_bounds(html):
    page = Reader(html)  # before another tab is opened
    for key, setting in SETTINGS["simulate"].items():
        controls = [
            attrs for _, attrs in page.elements if attrs.get("name") == key and "data-default" in attrs
        ]
        assert controls, key
        assert all(attrs["data-default"] == str(setting.default) for attrs in controls)
        if controls[0].get("type") == "number":
            assert (controls[0]["min"], controls[0]["max"]) == (str(setting.low), str(setting.high))


def test_the_runs_inside_the_page_are_one_load_under_both_allocators(page):
    first, second = (response["settings"] for response in page.data["responses"])
    assert (first["mode"], second["mode"]) == ("contiguous", "paged")
    assert {**first, "mode": ""} == {**second, "mode": ""}


def test_the_first_run_has_a_step_where_one_waits_though_memory_is_held_and_empty(page):
    frames = page.data["responses"][0]["sources"]["recording"]["frames"]
    empty = map(sum, zip(frames["reserved"], frames["internal"], strict=True))
    assert any(head >= 0 and held > 0 for head, held in zip(frames["head"], empty, strict=True))


def test_json_cannot_end_its_script_element():
    hostile = {"name": "</script><script>alert(1)</script>\u2028"}
    shown = str(json_script(hostile))
    assert "<" not in shown
    assert json.loads(shown) == hostile


def test_what_the_other_tabs_show_is_beside_the_page_on_the_static_site_and_in_it_otherwise():
    beside = Reader(render_static({**URLS, "tabs.json": "assets/tabs.json"}))
    assert "tab-data" not in beside.all("id")
    assert beside.data["urls"]["tabs.json"] == "assets/tabs.json"
    for texts in beside.data["texts"].values():
        named = {key for name in ("data-text", "data-label", "data-title") for key in beside.all(name)}
        assert named <= texts.keys()
        assert not [key for key in texts if key.startswith(("experiment.", "tab."))]
    assert not beside.all("data-experiment")
    inside = Reader(render_static(URLS))
    (content,) = [content for attrs, content in inside.scripts if attrs.get("id") == "tab-data"]
    carried = json.loads(content)
    assert carried.keys() == tabs("worker").keys()
    assert carried["panels"].keys() == set(TABS)
    for lang, texts in carried["texts"].items():
        assert texts
        assert texts.items() <= page_texts(lang).items()
