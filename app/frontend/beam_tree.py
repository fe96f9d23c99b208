"""The beams of one search over time: where they part, and which end before the others."""

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.frontend.theme import SCHEMES, bare_figure, draw_plainly


def beam_tree() -> figure:
    """The figure "beams"; x is the step, y the lane of a beam. static/beam_tree.js fills it.

    Sources: beams.edges (from a beam to itself or its child one step on), beams.nodes (a beam in a step),
    beams.ends (dropped here). Lanes mean nothing: a beam keeps the lane of its parent if it is the first.
    """
    light = SCHEMES["light"]
    plot = bare_figure("beams", 130, (0, 1), (1, 0))
    plot.segment(
        "x0",
        "y0",
        "x1",
        "y1",
        source=_source("edges", "x0", "y0", "x1", "y1", "colour", "alpha"),
        line_color="colour",
        line_alpha="alpha",
        line_width=2,
    )
    plot.scatter(
        x="x",
        y="y",
        source=_source("nodes", "x", "y", "colour", "alpha", "size"),
        size="size",
        line_color=None,
        fill_color="colour",
        fill_alpha="alpha",
    )
    plot.scatter(
        x="x",
        y="y",
        source=_source("ends", "x", "y"),
        name="beams.ends.glyph",
        marker="x",
        size=8,
        line_width=2,
        line_color=light["preempt"],
    )
    draw_plainly(plot)
    return plot


def _source(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource(name=f"beams.{name}", data={column: [] for column in columns})
