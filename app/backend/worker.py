"""The Python half of static/worker.js: text in, text out, through the one handler.

Requests and responses cross the border between JavaScript and Python as JSON text, which is quicker than
converting objects one by one; a file's bytes go beside it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.backend.handle import Handler
from app.backend.modules_on_demand import Fetch, ModulesOnDemand


class Door:
    """Answers requests in their JSON form.

    Args:
        modules: finds what is not in memory.
    """

    def __init__(self, modules: ModulesOnDemand) -> None:
        self._handler = Handler()
        self._modules = modules

    def connect(self, fetch: Fetch) -> None:
        """Says how archives are fetched, which the image of memory cannot hold."""
        self._modules.fetch = fetch

    def answer(self, request: str, data: Any = None) -> str:
        """The response to `request`, as JSON text.

        Args:
            request: a request as JSON text.
            data: content of a dropped file, which becomes request["data"]: text, bytes, or a JavaScript
                Uint8Array; None if the request has none.
        """
        asked = json.loads(request)
        if data is not None:
            asked["data"] = data if isinstance(data, (str, bytes)) else data.to_bytes()
        return json.dumps(self._handler.handle(asked), separators=(",", ":"), ensure_ascii=False)


def open_door(archives: Mapping[str, Sequence[str]]) -> Door:
    """A Door in the browser, with all that is not in memory within reach once it is connected.

    Args:
        archives: see ModulesOnDemand.
    """
    modules = ModulesOnDemand(archives)
    modules.install()
    return Door(modules)
