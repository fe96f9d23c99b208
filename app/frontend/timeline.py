"""Waste over the whole run, stacked, with marks where something happened; the transport's track."""

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.frontend.stacked_parts import stack_parts
from app.frontend.theme import bare_figure, draw_plainly

# Kind of mark → (Bokeh marker, lane above the stack, in shares of the pool's height).
MARKS = {
    "finish": ("circle", 1.12),
    "wait": ("square", 1.32),
    "preempt": ("triangle", 1.52),
    "reject": ("x", 1.52),
    "copy": ("diamond", 1.72),
    "swap": ("inverted_triangle", 1.92),
    "evict": ("star", 2.12),
}


def timeline() -> figure:
    """The figure "timeline"; x is the step, y a share of the pool. static/timeline.js fills it.

    Sources: timeline.stack (step, and the upper edge of every part) and timeline.marks (all kinds in one
    glyph: to build one for each takes longer than all else in the figure).
    The playhead is an element of the page laid over the figure: moving it repaints nothing here.
    """
    plot = bare_figure("timeline", 76, (0, 90), (0, 1.66))
    stack_parts(plot, "step", "timeline.stack", "timeline")
    marks = ColumnDataSource(
        name="timeline.marks", data={column: [] for column in ("step", "lane", "marker", "colour", "width")}
    )
    plot.scatter(
        x="step",
        y="lane",
        source=marks,
        marker="marker",
        size=7,
        line_color="colour",
        line_width="width",
        fill_color="colour",
    )
    draw_plainly(plot)
    return plot
