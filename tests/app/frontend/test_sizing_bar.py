"""The Sizing tab as it stands in the page: its figure, its fields, and the answer before Python is there."""

import json
import re

from bokeh.core.validation import check_integrity
from bokeh.document import Document

from app.backend.settings import SETTINGS
from app.frontend.page import STATIC, page_data, page_texts, panel
from app.frontend.sizing_bar import TERMS, memory_bar, sizing_data
from app.frontend.theme import PARTS, SCHEMES


def test_the_bar_has_a_part_for_every_term_of_the_sum_in_its_order():
    plot = memory_bar()
    assert not check_integrity(plot.references()).error
    document = Document()
    document.add_root(plot)
    columns = document.get_model_by_name("sizing.parts").data
    assert {len(column) for column in columns.values()} == {len(TERMS)}
    answer = sizing_data()["response"]["sources"]["sizing"]
    assert list(answer["terms"]) == list(TERMS)


def test_parts_differ_by_colour_and_pattern_in_both_schemes():
    for scheme in SCHEMES.values():
        looks = [(scheme[role], PARTS[part]) for role, part in TERMS.values()]
        assert len(set(looks)) == len(TERMS)


def test_the_defaults_are_answered_in_the_page_as_plain_json():
    data = json.loads(json.dumps(sizing_data()))
    assert data["response"]["error"] is None
    assert data["response"]["settings"] == {key: each.default for key, each in SETTINGS["sizing"].items()}


def test_every_setting_has_a_field_with_its_bounds_which_waits_for_python():
    form = panel("sizing", "worker")
    for key, setting in SETTINGS["sizing"].items():
        (field,) = re.findall(rf'<(?:input|select)[^>]* name="{key}"[^>]*>', form)
        assert " disabled" in field
        shown = setting.default if setting.choices else f"{setting.default:g}"
        assert f'data-default="{shown}"' in field
        if not setting.choices:
            assert f'min="{setting.low}" max="{setting.high}"' in field
        for choice in setting.choices:
            assert f'<option value="{choice}"' in form


def test_every_text_that_the_scripts_name_is_there_and_waits_for_the_tab():
    first = page_data("worker", {})["texts"]["en"]
    assert not [key for key in first if key.startswith(("sizing.", "tab.sizing.", "cli."))]
    texts = page_texts("en")
    for script in STATIC.glob("sizing*.js"):
        source = script.read_text(encoding="utf-8")
        assert set(re.findall(r'text\("([\w.]+)"', source)) <= texts.keys()
    for term in TERMS:
        assert {f"sizing.term.{term}", f"sizing.how.{term}"} <= texts.keys()
    offered = {"model", "gpu", "tp", "wbits"}
    assert {f"tab.sizing.offer.{key}" for key in offered} <= texts.keys()
