"""A report as one HTML file that needs nothing else: sentences, tables, Bokeh charts that can be zoomed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bokeh.embed import components
from bokeh.models import HoverTool
from bokeh.plotting import figure
from bokeh.resources import INLINE
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from app.frontend.theme import REQUEST_COLOURS, SCHEMES

STATIC = Path(__file__).parents[2] / "static"
_DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot")
# Of the requests' colours those that are dark enough for a line on white.
_LINES = [REQUEST_COLOURS[i] for i in (3, 12, 4, 14, 2, 7, 9, 15)]
_WIDTH, _HEIGHT, _ROW = 760, 260, 26  # px


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words under headings."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Lines:
    """Series over a common axis.

    Attributes:
        title, x, y: what is shown, and what the axes count.
        series: by name, x and y.
    """

    title: str
    x: str
    y: str
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Bars:
    """One bar a row.

    Attributes:
        title, x: what is shown, and what its axis counts.
        names: of the rows, which differ.
        values: how long each bar is.
    """

    title: str
    x: str
    names: Sequence[str]
    values: Sequence[float]


def report_file(
    title: str, lang: str, lead: Sequence[str], charts: Sequence[Lines | Bars], tables: Sequence[Table]
) -> str:
    """The file's content.

    Args:
        title: of the report; like all words here it may hold anything, and is escaped.
        lang: of all words.
        lead: sentences below the title.
        charts, tables: in order; a chart without a point is left out.
    """
    drawn = [(chart.title, _figure(chart)) for chart in charts if _has_points(chart)]
    script, places = components([plot for _, plot in drawn]) if drawn else ("", [])
    environment = Environment(
        loader=FileSystemLoader(STATIC),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report_file.html").render(
        title=title,
        lang=lang,
        lead=lead,
        charts=[(name, Markup(place)) for (name, _), place in zip(drawn, places, strict=True)],
        tables=tables,
        library=Markup(INLINE.render()) if drawn else "",
        script=Markup(script),
    )


def _has_points(chart: Lines | Bars) -> bool:
    return bool(chart.names) if isinstance(chart, Bars) else any(len(x) for x, _ in chart.series.values())


def _figure(chart: Lines | Bars) -> figure:
    return _bars(chart) if isinstance(chart, Bars) else _lines(chart)


def _lines(chart: Lines) -> figure:
    plot = _plain(height=_HEIGHT, x_axis_label=chart.x, y_axis_label=chart.y)
    for i, (name, (x, y)) in enumerate(chart.series.items()):
        colour, dash = _LINES[i % len(_LINES)], _DASHES[i % len(_DASHES)]
        plot.line(list(x), list(y), line_width=2, line_color=colour, line_dash=dash, legend_label=name)
    plot.y_range.start = 0
    plot.legend.location = "top_left"
    plot.legend.click_policy = "hide"
    plot.add_tools(HoverTool(tooltips=[(chart.x, "@x{0,0.[00]}"), (chart.y, "@y{0,0.[00]}")]))
    return plot


def _bars(chart: Bars) -> figure:
    names = list(chart.names)
    height = 90 + _ROW * len(names)
    plot = _plain(height=height, x_axis_label=chart.x, y_range=names[::-1])
    plot.hbar(y=names, right=list(chart.values), height=0.7, fill_color=_LINES[0], line_color=None)
    plot.x_range.start = 0
    plot.add_tools(HoverTool(tooltips=[("", "@y"), (chart.x, "@right{0,0.[00]}")]))
    return plot


def _plain(**more: object) -> figure:
    plot = figure(width=_WIDTH, tools="pan,wheel_zoom,box_zoom,reset,save", **more)
    plot.toolbar.logo = None
    plot.toolbar.active_scroll = None
    plot.sizing_mode = "stretch_width"
    plot.grid.grid_line_color = SCHEMES["light"]["line"]
    return plot
