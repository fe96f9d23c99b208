"""Where the slots of the pool go while a trace is replayed."""

from bokeh.plotting import figure

from app.frontend.chart import framed_figure
from app.frontend.stacked_parts import stack_parts

LABELS_WIDTH = 48  # px left of the figure


def replay_pool() -> figure:
    """The figure "replay.pool"; x is time, y percent of the pool.

    Source replay.parts: x, zero, and the upper edge of every part. static/replay_timeline.js fills it.
    """
    plot = framed_figure("replay.pool", 220)
    plot.min_border_left = LABELS_WIDTH
    plot.y_range.end = 100
    stack_parts(plot, "x", "replay.parts", "replay")
    return plot
