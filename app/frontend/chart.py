"""One figure that shows any chart of an experiment: bars beside or upon each other, lines with marks."""

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, FixedTicker, LinearAxis
from bokeh.plotting import figure

from app.frontend.theme import FONT, SCHEMES, bare_figure


def framed_figure(name: str, height: int) -> figure:
    """A figure with a horizontal and a vertical axis, named `<name>.x` and `<name>.y`, and their grids.

    Titles, names of axes and legends are HTML around it; only the ticks' labels are drawn.

    Args:
        name: by which the page finds it in the document.
        height: px, until the page sets it.
    """
    light = SCHEMES["light"]
    plot = bare_figure(name, height, (0, 1), (0, 1))
    plot.min_border_top = 6
    plot.min_border_right = 12  # half of the last tick's label
    for place, axis, grid in (("below", "x", plot.xgrid), ("left", "y", plot.ygrid)):
        plot.add_layout(_axis(f"{name}.{axis}"), place)
        grid.visible = True
        grid.name = f"{name}.{axis}.grid"
        grid.grid_line_color = light["line"]
        grid.grid_line_alpha = 0.6
    return plot


def _axis(name: str) -> LinearAxis:
    light = SCHEMES["light"]
    return LinearAxis(
        name=name,
        axis_line_color=None,
        major_tick_line_color=None,
        minor_tick_line_color=None,
        major_label_text_color=light["muted"],
        major_label_text_font=FONT,
        major_label_text_font_size="12px",
        major_label_standoff=6,
    )


def chart() -> figure:
    """The figure "chart", filled by static/chart.js, which also sets ranges, ticks and colours.

    Sources: chart.bars (rectangles in data coordinates), chart.lines (one row a series), chart.points (marks
    on the lines), chart.values (words at the ends of bars). The page opens as many of it as it needs.
    """
    light = SCHEMES["light"]
    plot = framed_figure("chart", 240)
    for axis in (plot.below[0], plot.left[0]):
        axis.ticker = FixedTicker(name=f"{axis.name}.ticker", ticks=[])
    plot.xgrid.ticker, plot.ygrid.ticker = plot.below[0].ticker, plot.left[0].ticker
    plot.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        source=_source("bars", "left", "right", "bottom", "top", "colour", "solid", "hatch"),
        name="chart.bars.glyph",
        fill_color="colour",
        fill_alpha="solid",
        hatch_pattern="hatch",
        hatch_color="colour",
        hatch_scale=7,
        hatch_weight=1.5,
        line_color=light["cell_line"],
        line_width=0.5,
    )
    plot.multi_line(
        xs="xs",
        ys="ys",
        source=_source("lines", "xs", "ys", "colour", "dash"),
        name="chart.lines.glyph",
        line_color="colour",
        line_dash="dash",
        line_width=2,
    )
    plot.scatter(
        x="x",
        y="y",
        source=_source("points", "x", "y", "colour", "mark"),
        name="chart.points.glyph",
        marker="mark",
        size=8,
        line_color="colour",
        fill_color="colour",
    )
    plot.text(
        x="x",
        y="y",
        text="words",
        source=_source("values", "x", "y", "words"),
        name="chart.values.glyph",
        x_offset=6,
        text_baseline="middle",
        text_color=light["ink"],
        text_font=value(FONT),
        text_font_size="12px",
    )
    return plot


def _source(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource(name=f"chart.{name}", data={column: [] for column in columns})
