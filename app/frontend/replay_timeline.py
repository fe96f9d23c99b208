"""A replay over time: where the slots of the pool go, and how many requests run and wait."""

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.frontend.chart import framed_figure
from app.frontend.theme import PARTS, SCHEMES

# Series of requests: name → (role of its colour in a scheme, dash).
COUNTS = {"running": ("real", "solid"), "waiting": ("reserved", "dashed")}

LABELS_WIDTH = 48  # px left of both figures, so that their time axes stand in line


def replay_pool() -> figure:
    """The figure "replay.pool"; x is time, y percent of the pool.

    Source replay.parts: x, zero, and the upper edge of every part. static/replay_timeline.js fills it.
    """
    light = SCHEMES["light"]
    plot = framed_figure("replay.pool", 220)
    plot.min_border_left = LABELS_WIDTH
    plot.y_range.end = 100
    parts = list(PARTS)
    columns = ["x", "zero", *parts]
    source = ColumnDataSource(name="replay.parts", data={column: [] for column in columns})
    for below, part in zip(["zero", *parts], parts, strict=False):
        hatched = PARTS[part] != " "
        plot.varea(
            x="x",
            y1=below,
            y2=part,
            source=source,
            name=f"replay.{part}.glyph",
            fill_color=light[part],
            fill_alpha=0.25 if hatched else 1,
            hatch_pattern=PARTS[part],
            hatch_color=light[part],
            hatch_scale=6,
            hatch_weight=1.2,
        )
    return plot


def replay_counts() -> figure:
    """The figure "replay.counts"; x is time, y requests. Source replay.counts.lines: x and both series."""
    light = SCHEMES["light"]
    plot = framed_figure("replay.counts", 150)
    plot.min_border_left = LABELS_WIDTH
    source = ColumnDataSource(name="replay.counts.lines", data={"x": [], **{name: [] for name in COUNTS}})
    for name, (role, dash) in COUNTS.items():
        plot.line(
            x="x",
            y=name,
            source=source,
            name=f"replay.{name}.glyph",
            line_color=light[role],
            line_dash=dash,
            line_width=2,
        )
    return plot
