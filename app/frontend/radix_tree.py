"""What a prefix cache knows, as a tree of bars: a bar is as wide as its tokens, and begins where they do."""

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.frontend.theme import bare_figure, draw_plainly


def radix_tree() -> figure:
    """The figure "prefixes"; x counts tokens of a prompt, y lanes from the top. static/radix_tree.js
    fills it.

    A bar is as high as all that hangs on it, so that what is shared stands left of those that share it.
    Sources: prefixes.bars (a node, or one on its way out), prefixes.outlines (new in this step). Names are
    text over the figure.
    """
    plot = bare_figure("prefixes", 160, (0, 1), (1, 0))
    edges = ("left", "right", "bottom", "top")
    look = {"line_color": "line", "line_alpha": "alpha", "line_dash": "dash", "line_width": "width"}
    columns = (*edges, "line", "alpha", "dash", "width")
    plot.quad(
        **{edge: edge for edge in edges},
        source=_source("bars", *columns, "colour", "fill"),
        fill_color="colour",
        fill_alpha="fill",
        **look,
    )
    plot.quad(
        **{edge: edge for edge in edges},
        source=_source("outlines", *columns),
        fill_color=None,
        line_join="round",
        **look,
    )
    draw_plainly(plot)
    return plot


def _source(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource(name=f"prefixes.{name}", data={column: [] for column in columns})
