"""Where the slots of a pool go over time: its parts, stacked."""

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.frontend.theme import POOL_PARTS, SCHEMES


def stack_parts(plot: figure, x: str, source: str, prefix: str) -> None:
    """Draws an area for each of POOL_PARTS, upon each other in their order.

    Args:
        plot: what they are added to.
        x: column of the source for the horizontal axis. The others are `zero`, where the lowest part begins,
            and the upper edge of every part.
        source: name of the source, empty here.
        prefix: the areas are named `<prefix>.<part>.glyph`.
    """
    light = SCHEMES["light"]
    parts = list(POOL_PARTS)
    columns = ColumnDataSource(name=source, data={column: [] for column in [x, "zero", *parts]})
    for below, part in zip(["zero", *parts], parts, strict=False):
        hatched = POOL_PARTS[part] != " "
        plot.varea(
            x=x,
            y1=below,
            y2=part,
            source=columns,
            name=f"{prefix}.{part}.glyph",
            fill_color=light[part],
            fill_alpha=0.25 if hatched else 1,
            hatch_pattern=POOL_PARTS[part],
            hatch_color=light[part],
            hatch_scale=6,
            hatch_weight=1.2,
        )
