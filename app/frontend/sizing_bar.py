"""Where the memory of one GPU goes: one bar of seven parts, and what the tab Sizing shows before Python."""

from bokeh.embed import json_item
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from app.backend.handle import Handler
from app.frontend.theme import PARTS, SCHEMES, bare_figure, draw_plainly

# Terms of the sum in its order: name → (role of its colour in a scheme, part of PARTS whose pattern it has).
TERMS = {
    "kept": ("muted", "real"),
    "reserve": ("usable", "usable"),
    "weights": ("external", "real"),
    "hidden": ("internal", "internal"),
    "sampler": ("reserved", "reserved"),
    "context": ("copy", "external"),
    "kv_space": ("real", "real"),
}
HEIGHT = 36  # px


def sizing_data() -> dict:
    """Plain JSON: the answer for the default settings, the figure as a Bokeh item, and how its parts look."""
    return {
        "response": Handler().handle({"kind": "sizing", "settings": {}}),
        "terms": TERMS,
        "figure": json_item(memory_bar()),
    }


def memory_bar() -> figure:
    """The figure "sizing"; x is a share of the memory. static/sizing_bar.js fills its source "sizing.parts".

    The rows stand in the order of TERMS; names and figures are HTML below it.
    """
    light = SCHEMES["light"]
    plot = bare_figure("sizing", HEIGHT, (0, 1), (0, 1))
    patterns = [PARTS[part] for _, part in TERMS.values()]
    source = ColumnDataSource(
        name="sizing.parts",
        data={
            "left": [0.0] * len(TERMS),
            "right": [0.0] * len(TERMS),
            "colour": [light[role] for role, _ in TERMS.values()],
            "solid": [1.0 if pattern == " " else 0.15 for pattern in patterns],
            "hatch": patterns,
        },
    )
    plot.quad(
        left="left",
        right="right",
        bottom=0,
        top=1,
        source=source,
        name="sizing.parts.glyph",
        fill_color="colour",
        fill_alpha="solid",
        hatch_pattern="hatch",
        hatch_color="colour",
        hatch_scale=7,
        hatch_weight=1.5,
        line_color=light["panel"],
        line_width=1,
    )
    draw_plainly(plot)
    return plot
