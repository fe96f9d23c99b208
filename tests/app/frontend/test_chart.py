"""The figures of the tabs Experiments and Replay, and what the page carries for them."""

import json
import re

import pytest
from bokeh.core.validation import check_integrity
from bokeh.document import Document

from app.backend.texts import LANGUAGES
from app.frontend.beam_tree import beam_tree
from app.frontend.chart import chart
from app.frontend.default_reports import default_reports
from app.frontend.page import STATIC, page_texts, panel
from app.frontend.radix_tree import radix_tree
from app.frontend.replay_timeline import replay_pool
from app.frontend.tab_data import tab_data
from app.frontend.theme import POOL_PARTS, SCHEMES
from pycore.experiments import EXPERIMENTS

FIGURES = {
    "chart": chart,
    "replay.pool": replay_pool,
    "beams": beam_tree,
    "prefixes": radix_tree,
}


@pytest.mark.parametrize(("name", "build"), FIGURES.items(), ids=FIGURES)
def test_a_figure_goes_by_its_name_and_every_glyph_finds_its_columns(name, build):
    plot = build()
    assert plot.name == name
    issues = check_integrity(plot.references())
    assert not issues.error


@pytest.mark.parametrize(("name", "build"), FIGURES.items(), ids=FIGURES)
def test_what_the_scripts_fill_is_in_the_figure(name, build):
    document = Document()
    document.add_root(build())
    names = {
        "chart": ["x", "y", "x.grid", "y.grid", "x.ticker", "y.ticker"]
        + [f"{source}{end}" for source in ("bars", "lines", "points", "values") for end in ("", ".glyph")],
        "replay.pool": ["x", "y", "x.grid", "y.grid"],
        "beams": ["edges", "nodes", "ends", "ends.glyph"],
        "prefixes": ["bars", "outlines"],
    }[name]
    names = [f"{name}.{each}" for each in names]
    if name == "replay.pool":
        names += ["replay.parts", *(f"replay.{part}.glyph" for part in POOL_PARTS)]
    missing = [each for each in names if document.get_model_by_name(each) is None]
    assert not missing


def test_the_names_in_the_scripts_are_those_of_the_figures():
    """Each name in quotes that begins like a figure's is one; templates of names are covered above."""
    document = Document()
    for build in FIGURES.values():
        document.add_root(build())
    for script in ("chart.js", "replay_timeline.js", "beam_tree.js", "radix_tree.js"):
        source = (STATIC / script).read_text(encoding="utf-8")
        for name in re.findall(r'(?:model|setData)\("((?:chart|replay|beams|prefixes)[\w.]*)"', source):
            assert document.get_model_by_name(name) is not None, f"{script}: {name}"


def test_the_page_carries_the_first_result_of_every_experiment():
    reports = default_reports()
    assert list(reports) == list(EXPERIMENTS)
    for name, response in reports.items():
        assert response["error"] is None
        report = response["sources"]["report"]
        assert report["settings"] == EXPERIMENTS[name].validated({})
        assert all(claim["holds"] and claim["en"] and claim["zh"] for claim in report["claims"])


@pytest.mark.parametrize(("transport", "most"), [("worker", 200_000_000), ("server", 15_000_000)])
def test_the_page_is_told_the_largest_file_of_its_transport(transport, most):
    data = json.loads(json.dumps(tab_data(transport)))
    assert data["max_file_bytes"] == most
    assert data["figures"].keys() == {"chart", "pool", "beams"}


def test_every_colour_of_a_series_is_in_both_schemes():
    roles = re.findall(r"const ROLES = \[(.*)\]", (STATIC / "chart_layout.js").read_text(encoding="utf-8"))
    for role in re.findall(r'"(\w+)"', roles[0]):
        assert all(role in scheme for scheme in SCHEMES.values())


def test_the_forms_have_a_field_for_every_param_and_a_button_for_every_preset():
    page = panel("experiments", "worker")
    for experiment in EXPERIMENTS.values():
        start = page.index(f'data-experiment-form="{experiment.name}"')
        form = page[start : page.index("</form>", start)]
        assert re.findall(r'<(?:input|select)[^>]* name="(\w+)"', form) == [
            param.name for param in experiment.params
        ]
        assert re.findall(r'data-preset="(\w+)"', form) == [preset.name for preset in experiment.presets]


def test_the_tabs_texts_have_the_same_keys_and_fields_in_both_languages():
    catalogues = [
        json.loads((STATIC / "text" / lang / "tabs.json").read_text(encoding="utf-8")) for lang in LANGUAGES
    ]
    english, chinese = catalogues
    assert english.keys() == chinese.keys()
    for key, words in english.items():
        assert set(re.findall(r"\{(\w+)", words)) == set(re.findall(r"\{(\w+)", chinese[key])), key


def test_every_text_that_the_scripts_of_the_tabs_name_is_there():
    known = page_texts("en")
    scripts = [*STATIC.glob("replay*.js"), *STATIC.glob("experiment*.js")]
    for script in [*scripts, STATIC / "run_bar.js", STATIC / "report.js"]:
        for key in re.findall(r'\btext\("([\w.]+)"', script.read_text(encoding="utf-8")):
            assert key in known, f"{script.name}: {key}"
