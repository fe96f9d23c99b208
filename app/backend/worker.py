"""The Python half of static/worker.js: text in, text out, through the one handler.

Requests and responses cross the border between JavaScript and Python as JSON text, which is quicker than
converting objects one by one; a file's bytes go beside it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.backend.handle import Handler
from app.backend.rest_of_library import RestOfLibrary


class Door:
    """Answers requests in their JSON form."""

    def __init__(self) -> None:
        self._handler = Handler()

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


def open_door(rest_names: str, rest_archive: str, fetch: Callable[[str], str]) -> Door:
    """A Door in the browser, with the rest of the standard library within reach.

    Args:
        rest_names: path of a JSON list with the names of the modules not shipped at first.
        rest_archive: path where `fetch` puts their archive.
        fetch: see RestOfLibrary.
    """
    names = json.loads(Path(rest_names).read_text(encoding="utf-8"))
    RestOfLibrary(names, rest_archive, fetch).install()
    return Door()
