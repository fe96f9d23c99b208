"""Where the slots of the pool go in this step: one bar of five parts."""

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.frontend.theme import POOL_PARTS, SCHEMES, bare_figure, draw_plainly, hatch_lines


def waste_bar() -> figure:
    """The figure "waste"; x is a share of the pool, y runs downwards. static/waste_bar.js fills its sources
    "waste.parts" and "waste.hatch".

    The rows stand in the order of POOL_PARTS; names and figures are HTML below it.
    """
    light = SCHEMES["light"]
    plot = bare_figure("waste", 28, (0, 1), (1, 0))
    source = ColumnDataSource(
        name="waste.parts",
        data={
            "left": [0.0] * len(POOL_PARTS),
            "right": [0.0] * len(POOL_PARTS),
            "colour": [light[part] for part in POOL_PARTS],
            "solid": [1.0 if hatch == " " else 0.15 for hatch in POOL_PARTS.values()],
        },
    )
    plot.quad(
        left="left",
        right="right",
        bottom=0,
        top=1,
        source=source,
        name="waste.parts.glyph",
        fill_color="colour",
        fill_alpha="solid",
        line_color=light["panel"],
        line_width=1,
    )
    hatch_lines(plot, "waste.hatch")
    draw_plainly(plot)
    return plot
