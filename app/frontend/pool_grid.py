"""The pool: one cell a block, filled as high as it holds tokens, in the colour of its owner."""

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.frontend.theme import FONT, PARTS, SCHEMES, bare_figure, draw_plainly, hatch_lines

_EDGES = ("left", "right", "bottom", "top")


def _source(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource(name=f"pool.{name}", data={column: [] for column in columns})


def pool_grid() -> figure:
    """The figure "pool"; x counts columns of blocks, y rows from the top. static/pool_grid.js fills it.

    Sources, bottom to top: pool.cells (every block), pool.external (free, in a hole too small for who waits),
    pool.spans (slots of one owner and one part), pool.hatch (lines in what is held and empty), pool.outlines
    (second mark of a colour used twice, changed in this step, in focus), pool.labels, pool.numbers. They are
    few, as each source that changes costs time in every step.
    """
    light = SCHEMES["light"]
    plot = bare_figure("pool", 240, (0, 16), (4, 0))
    edges = {edge: edge for edge in _EDGES}
    plot.quad(
        **edges,
        source=_source("cells", *_EDGES),
        name="pool.cells.glyph",
        fill_color=light["free"],
        line_color=light["cell_line"],
        line_width=1,
    )
    plot.quad(
        **edges,
        source=_source("external", *_EDGES),
        name="pool.external.glyph",
        fill_color=None,
        line_color=None,
        hatch_pattern=PARTS["external"],
        hatch_color=light["external"],
        hatch_scale=7,
        hatch_weight=1.5,
    )
    plot.quad(
        **edges,
        source=_source("spans", *_EDGES, "colour", "fill", "alpha", "line"),
        fill_color="colour",
        fill_alpha="fill",
        line_color="line",
        line_alpha="alpha",
        line_width=1,
    )
    hatch_lines(plot, "pool.hatch")
    plot.quad(
        **edges,
        source=_source("outlines", *_EDGES, "colour", "alpha", "dash", "width"),
        fill_color=None,
        line_color="colour",
        line_alpha="alpha",
        line_dash="dash",
        line_width="width",
    )
    plot.text(
        "x",
        "y",
        text="text",
        source=_source("labels", "x", "y", "text", "colour", "chip", "alpha", "plate", "size"),
        name="pool.labels.glyph",
        text_align="center",
        text_baseline="middle",
        text_font=value(FONT),
        text_font_size="size",
        text_font_style="bold",
        text_color="colour",
        text_alpha="alpha",
        background_fill_color="chip",
        background_fill_alpha="plate",
        border_radius=3,
        padding=2,
    )
    plot.text(
        "x",
        "y",
        text="text",
        source=_source("numbers", "x", "y", "text"),
        name="pool.numbers.glyph",
        text_align="left",
        text_baseline="top",
        text_font=value(FONT),
        text_font_size="10px",
        text_color=light["muted"],
    )
    draw_plainly(plot)
    return plot
