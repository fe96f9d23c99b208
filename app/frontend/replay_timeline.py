"""Where the slots of the pool go while a trace is replayed."""

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.frontend.chart import framed_figure
from app.frontend.theme import POOL_PARTS, SCHEMES

LABELS_WIDTH = 48  # px left of the figure


def replay_pool() -> figure:
    """The figure "replay.pool"; x is time, y percent of the pool.

    Source replay.parts: x, zero, and the upper edge of every part. static/replay_timeline.js fills it.
    """
    light = SCHEMES["light"]
    plot = framed_figure("replay.pool", 220)
    plot.min_border_left = LABELS_WIDTH
    plot.y_range.end = 100
    parts = list(POOL_PARTS)
    columns = ["x", "zero", *parts]
    source = ColumnDataSource(name="replay.parts", data={column: [] for column in columns})
    for below, part in zip(["zero", *parts], parts, strict=False):
        hatched = POOL_PARTS[part] != " "
        plot.varea(
            x="x",
            y1=below,
            y2=part,
            source=source,
            name=f"replay.{part}.glyph",
            fill_color=light[part],
            fill_alpha=0.25 if hatched else 1,
            hatch_pattern=POOL_PARTS[part],
            hatch_color=light[part],
            hatch_scale=6,
            hatch_weight=1.2,
        )
    return plot
