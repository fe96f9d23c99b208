"""Colours, hatches and the bare figure that every picture starts from.

The page's JavaScript gets this table inside the page (see page.py), so that a colour stands in one place.
"""

from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure

# Colours of requests in order of their ids; told apart by normal and three kinds of colour-blind sight.
REQUEST_COLOURS = [
    *("#da6cae", "#b5df0c", "#6b2e06", "#0c0cdf", "#428a6d", "#a59509", "#8bd8f9", "#165a46"),
    *("#c3c383", "#9e4c86", "#577538", "#d7acb1", "#f4346d", "#b78bf9", "#a154d4", "#6e0788"),
]
_WHITE_LABEL = {3, 4, 8, 10, 11, 16}  # numbers in that order, from 1; the others carry black
LABEL_COLOURS = ["#ffffff" if n in _WHITE_LABEL else "#000000" for n in range(1, len(REQUEST_COLOURS) + 1)]

# Parts of the pool, in the order in which they are stacked: key of the page's texts, Bokeh hatch pattern.
PARTS = {"real": " ", "reserved": "/", "internal": "x", "external": ".", "usable": " "}
# The same of a pool that may keep prefixes in blocks that nobody uses.
POOL_PARTS = {**{part: PARTS[part] for part in PARTS if part != "usable"}, "cached": " ", "usable": " "}

SCHEMES = {
    "light": {
        "ink": "#1b1f24",
        "muted": "#5b6470",
        "line": "#c3c9d1",
        "free": "#e5e7eb",
        "cell_line": "#9aa3af",
        "panel": "#ffffff",
        "real": "#1f5fbf",
        "reserved": "#b45309",
        "internal": "#b91c1c",
        "external": "#7c3aed",
        "cached": "#bcc3cd",
        "usable": "#e5e7eb",
        "finish": "#15803d",
        "wait": "#b45309",
        "preempt": "#b91c1c",
        "reject": "#7c3aed",
        "copy": "#0e7490",
        "swap": "#be185d",
        "evict": "#4d7c0f",
    },
    "dark": {
        "ink": "#eceff3",
        "muted": "#a5afbb",
        "line": "#465160",
        "free": "#374151",
        "cell_line": "#6b7686",
        "panel": "#171b21",
        "real": "#5b93e6",
        "reserved": "#fbbf24",
        "internal": "#f87171",
        "external": "#c4b5fd",
        "cached": "#5d6879",
        "usable": "#374151",
        "finish": "#4ade80",
        "wait": "#fbbf24",
        "preempt": "#f87171",
        "reject": "#c4b5fd",
        "copy": "#22d3ee",
        "swap": "#f9a8d4",
        "evict": "#bef264",
    },
}

FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


def bare_figure(name: str, height: int, x_range: tuple[float, float], y_range: tuple[float, float]) -> figure:
    """A figure of nothing but its glyphs: no axes, tools, borders or words; as wide as its place.

    Words stay in HTML, where they can be read out, selected and translated. The frame fills the whole
    figure, so that the page can turn a pointer's place into data coordinates by a division.

    Args:
        name: by which the page finds it in the document.
        height: px, until the page sets it.
        x_range, y_range: (start, end) in data coordinates.
    """
    plot = figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        x_range=Range1d(*x_range),
        y_range=Range1d(*y_range),
        x_axis_location=None,
        y_axis_location=None,
        toolbar_location=None,
        title=None,  # an empty one would still be measured at every repaint
        tools="",
        min_border=0,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
    )
    plot.grid.visible = False
    return plot


def hatch_lines(plot: figure, name: str) -> None:
    """Adds the lines of hatches as one glyph with a source called `name`; static/hatch.js fills it.

    Bokeh's own vectorised hatches build one canvas a rectangle whenever data changes: too slow to step
    through.
    """
    columns = {column: [] for column in ("x0", "y0", "x1", "y1", "colour", "alpha", "width")}
    plot.segment(
        "x0",
        "y0",
        "x1",
        "y1",
        source=ColumnDataSource(name=name, data=columns),
        line_color="colour",
        line_alpha="alpha",
        line_width="width",
    )


def draw_plainly(plot: figure) -> None:
    """Leaves every renderer one look, and the figure no grids.

    The page never selects or mutes by Bokeh, and each look is updated whenever data changes; grids that are
    not to be seen would still be built.
    """
    plot.center = []
    for renderer in plot.renderers:
        renderer.nonselection_glyph = None
        renderer.selection_glyph = None
        renderer.muted_glyph = None
