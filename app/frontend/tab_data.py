"""What the scripts of all tabs but the first are told; read when one of them is first opened."""

from pathlib import Path

from bokeh.embed import json_item
from bokeh.plotting import figure

from app.backend.experiment import declarations
from app.frontend.beam_tree import beam_tree
from app.frontend.chart import chart
from app.frontend.default_reports import default_reports
from app.frontend.replay_timeline import replay_pool
from app.frontend.sizing_bar import sizing_data
from app.frontend.theme import POOL_PARTS

# Largest trace file in bytes, by transport. A browser's Python has 2 to 4 GB, of which a trace takes several
# times its size; a server takes messages of 20 MiB at most, and base64 makes a file a third larger.
MAX_FILE_BYTES = {"worker": 200_000_000, "server": 15_000_000}


def tab_data(transport: str, kept: Path | None = None) -> dict:
    """Plain JSON: declarations and first results of the experiments, and figures as Bokeh items.

    Args:
        transport: see page_data.
        kept: see default_reports.
    """
    return {
        "experiments": declarations(),
        # Where a package that an experiment needs is not installed, there is no result to carry.
        "responses": {name: each for name, each in default_reports(kept).items() if each["error"] is None},
        "parts": POOL_PARTS,
        "figures": {name: json_item(each) for name, each in tab_figures().items()},
        "sizing": sizing_data(),
        "max_file_bytes": MAX_FILE_BYTES[transport],
    }


def tab_figures() -> dict[str, figure]:
    """New figures that a tab opens as often as it has something to show in one."""
    return {"chart": chart(), "pool": replay_pool(), "beams": beam_tree()}
