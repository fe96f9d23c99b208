"""`panel serve app/main.py`: the same page, answered by Python on this machine.

Every session has its own Handler. A request comes in as JSON text in one hidden source and its response goes
out in another; the websocket carries both. Nothing else differs from the static site.
"""

import base64
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:  # `panel serve` runs this file from anywhere
    sys.path.insert(0, str(ROOT))

from bokeh.document import Document  # noqa: E402
from bokeh.io import curdoc  # noqa: E402
from bokeh.models import ColumnDataSource, Spacer  # noqa: E402

import static  # noqa: E402
from app.backend.handle import Handler  # noqa: E402
from app.frontend.page import template  # noqa: E402

BOKEH = "static/js/bokeh.min.js"  # where Bokeh's server hands out its own script


def open_channel() -> tuple[ColumnDataSource, ColumnDataSource]:
    """The two sources of a session's channel, wired to a Handler of its own."""
    handler = Handler()
    requests = ColumnDataSource(name="channel.request", data={"json": []})
    responses = ColumnDataSource(name="channel.response", data={"json": []})

    def answer(_attr: str, _old: object, new: dict) -> None:
        asked = json.loads(new["json"][0])
        request = asked["request"]
        if "base64" in request:
            request["data"] = base64.b64decode(request.pop("base64"))
        reply = {"id": asked["id"], "response": handler.handle(request)}
        responses.data = {"json": [json.dumps(reply, separators=(",", ":"))]}

    requests.on_change("data", answer)
    return requests, responses


def build(document: Document) -> None:
    """Puts the page into a session's document; its only model there is the channel."""
    # The sources hang on an empty element, as a root must be one.
    document.add_root(Spacer(name="channel", tags=list(open_channel())))
    document.template = template("server", {**static.addresses(), "bokeh.js": BOKEH})


build(curdoc())
