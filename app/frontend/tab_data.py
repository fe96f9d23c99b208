"""What the scripts of the tabs Experiments and Replay are told by the page; read when one is first opened."""

from functools import cache

from bokeh.embed import json_item

from app.backend.experiment import declarations
from app.backend.handle import Handler
from app.frontend.beam_tree import beam_tree
from app.frontend.chart import chart
from app.frontend.replay_timeline import COUNTS, replay_counts, replay_pool
from app.frontend.theme import PARTS

# Largest trace file in bytes, by transport. A browser's Python has 2 to 4 GB, of which a trace takes several
# times its size; a server takes messages of 20 MiB at most, and base64 makes a file a third larger.
MAX_FILE_BYTES = {"worker": 200_000_000, "server": 15_000_000}


@cache
def default_reports() -> dict[str, dict]:
    """What the handler answers for the first preset of every experiment, by name."""
    return {declared["name"]: _finished(declared["name"]) for declared in declarations()}


def _finished(name: str) -> dict:
    handler = Handler()
    response = handler.handle({"kind": "experiment", "name": name, "settings": {}})
    while "more" in response:
        response = handler.handle({"kind": "continue", "job": response["more"]})
    return response


def tab_data(transport: str) -> dict:
    """Plain JSON: declarations and first results of the experiments, and figures as Bokeh items.

    Args:
        transport: see page_data.
    """
    return {
        "experiments": declarations(),
        # Where a package that an experiment needs is not installed, there is no result to carry.
        "responses": {name: each for name, each in default_reports().items() if each["error"] is None},
        "parts": PARTS,
        "counts": list(COUNTS),
        "figures": {
            "chart": json_item(chart()),
            "pool": json_item(replay_pool()),
            "counts": json_item(replay_counts()),
            "beams": json_item(beam_tree()),
        },
        "max_file_bytes": MAX_FILE_BYTES[transport],
    }
