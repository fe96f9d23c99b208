"""The one door between page and core: `Handler.handle(request) -> response`, both plain JSON.

In the static site the request comes from the browser's worker, under `panel serve` over the websocket. The
kinds of requests and the shape of responses are told in docs/architecture.md.
"""

from collections.abc import Callable

from app.backend.columns import recording_columns
from app.backend.jobs import Jobs
from app.backend.settings import STEP_NS, Notice, engine_config, normalise, notice, shorten
from app.backend.texts import both
from pycore.config import build_engine
from pycore.events import EventLog
from pycore.recorder import record
from pycore.workload.synthetic import LOADS

RESPONSE_VERSION = 1


class BadRequestError(ValueError):
    """A request that cannot be answered; carries the sentence for the user, by language."""

    def __init__(self, key: str, **fields: object) -> None:
        super().__init__(both(key, **fields)["en"])
        self.sentences = both(key, **fields)


class Handler:
    """Answers requests; keeps nothing between them but the jobs that are still running."""

    def __init__(self) -> None:
        self._jobs = Jobs()
        self._kinds: dict[str, Callable[[dict], dict]] = {
            "simulate": self._simulate,
        }

    def handle(self, request: dict) -> dict:
        """One response to one request. Never raises for what a user can send.

        Args:
            request: `kind` and what that kind needs.

        Returns:
            `version`, `kind`, `sources`, `texts`, `notices`, `error` (None or a sentence by language),
            `settings`; `more` and `progress` while a job is not done.
        """
        kind = request.get("kind")
        response = {
            "version": RESPONSE_VERSION,
            "kind": kind,
            "sources": {},
            "texts": {},
            "notices": [],
            "error": None,
            "settings": {},
        }
        try:
            answer = self._kinds.get(kind)
            if answer is None:
                raise BadRequestError("error.request", value=shorten(kind))
            response.update(answer(request))
        except BadRequestError as problem:
            response["error"] = problem.sentences
        return response

    def _simulate(self, request: dict) -> dict:
        values, notices = normalise("simulate", request.get("settings") or {})
        load = LOADS[values["sc"]](values["seed"], STEP_NS)
        engine = build_engine(engine_config(values, load.max_len, STEP_NS), load.requests, EventLog())
        recording = record(engine, values["steps"])
        columns = recording_columns(recording, load.requests, values["mode"], load.max_len)
        return {"sources": {"recording": columns}, "notices": told(notices), "settings": values}


def told(notices: list[Notice]) -> list[dict[str, str]]:
    """Notices as the page takes them."""
    return [each.as_dict() for each in notices]


__all__ = ["BadRequestError", "Handler", "notice"]
