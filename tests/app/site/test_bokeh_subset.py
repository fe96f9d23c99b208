"""BokehJS with fewer models: what is kept finds all that it takes, and what is missing is named."""

import json
import re

import pytest

from app.frontend.page import bokeh_models
from app.site.bokeh_subset import bokeh_subset
from app.site.build_error import BuildError
from app.site.static_site import bokeh_bundles

SMALL = b"""
})
([
function _(e,t,n,o){o(),e(3),e(4),e(5)},
function _(e,t,n,o){o()},
function _(e,t,n,o){o(),n.embed=e(6)},
function _($,t,n,o){o(),n.register_models=$(1)},
function _(e,t,n,o){const a=e(1);class L{}L.__name__="Line"},
function _(e,t,n,o){const a=e(1);class R{}R.__name__="Rect"},
function _(e,t,n,o){o()}
], 0, {"main":0,"tslib":1,"index":2,"base":3,"models/line":4,"models/rect":5,"embed":6}, {});});"""


def modules_of(script):
    listed = re.search(r"\n\(\[\n(.*)\n\], 0", script.decode(), re.DOTALL)[1]
    return re.split(r",\n(?=function|0)", listed)


def test_what_no_wanted_model_takes_is_left_out_and_nothing_changes_its_place():
    kept = modules_of(bokeh_subset(SMALL, ["Line"]))
    full = modules_of(SMALL)
    assert kept[1:5] == full[1:5]
    assert (kept[5], kept[6]) == ("0", full[6])
    assert "register_models" in kept[0]
    assert "t(4)" in kept[0]
    assert "t(5)" not in kept[0]


def test_places_of_what_is_left_out_are_forgotten():
    places = json.loads(re.search(rb"\], 0, (\{.*?\}), ", bokeh_subset(SMALL, ["Line"]))[1])
    assert places == {"main": 0, "tslib": 1, "index": 2, "base": 3, "models/line": 4, "embed": 6}


def test_a_model_that_bokeh_does_not_have_is_named():
    with pytest.raises(BuildError, match="no model 'Circle'"):
        bokeh_subset(SMALL, ["Line", "Circle"])


def test_another_kind_of_file_is_refused():
    with pytest.raises(BuildError, match="no list of modules"):
        bokeh_subset(b"export const Bokeh = {};", ["Line"])


def test_of_the_installed_bokeh_the_figures_need_less_than_two_thirds():
    full = bokeh_bundles(["bokeh"])["bokeh.js"]
    assert {"Figure", "Quad", "Segment", "Scatter", "ColumnDataSource", "Notifications"} <= bokeh_models()
    subset = bokeh_subset(full, bokeh_models())
    assert len(subset) < 2 / 3 * len(full)
    assert b'__name__="Quad"' in subset
    assert b'__name__="HoverTool"' not in subset
