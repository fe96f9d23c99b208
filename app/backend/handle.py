"""The one door between page and core: `Handler.handle(request) -> response`, both plain JSON.

In the static site the request comes from the browser's worker, under `panel serve` over the websocket. The
kinds of requests and the shape of responses are told in docs/architecture.md.
"""

from collections.abc import Callable

from app.backend.columns import recording_columns
from app.backend.jobs import Job, Jobs
from app.backend.request_error import RequestError
from app.backend.settings import STEP_NS, engine_config, given_settings, normalise, notice, shorten, told
from pycore.assembly import build_engine
from pycore.events import EventLog
from pycore.recorder import record
from pycore.workload.synthetic import LOADS

RESPONSE_VERSION = 1


class Handler:
    """Answers requests; keeps nothing between them but the jobs that are still running."""

    def __init__(self) -> None:
        self._jobs = Jobs()
        self._kinds: dict[str, Callable[[dict], dict]] = {
            "simulate": simulate,
            "experiment": lambda request: self._jobs.start("experiment", _experiment(request)),
            "replay": lambda request: self._jobs.start("replay", _replay(request)),
            "sizing": _sizing,
            "continue": self._continue,
            "stop": lambda request: self._jobs.stop(_job(request)),
            "cancel": self._cancel,
        }

    def handle(self, request: dict) -> dict:
        """One response to one request. Never raises for what a user can send.

        Args:
            request: `kind`, and what that kind needs.

        Returns:
            `version`, `kind`, `sources`, `texts`, `notices`, `error` (None or see RequestError.as_dict),
            `settings`; `more` and `progress` while a job is not done.
        """
        if not isinstance(request, dict):
            request = {"kind": request}
        kind = request.get("kind")
        response = {
            "version": RESPONSE_VERSION,
            "kind": self._asked(kind, request),
            "sources": {},
            "texts": {},
            "notices": [],
            "error": None,
            "settings": {},
        }
        try:
            answer = self._kinds.get(kind) if isinstance(kind, str) else None
            if answer is None:
                raise RequestError.of("error.request", value=shorten(kind))
            response.update(answer(request))
        except RequestError as error:
            response["error"] = error.as_dict()
        return response

    def _asked(self, kind: object, request: dict) -> object:
        """What was first asked for: how many slices a job took must not show in its result. None: no kind."""
        started = self._jobs.kind(_job(request)) if kind in ("continue", "stop") else None
        return started or (kind if isinstance(kind, str) and kind in self._kinds else None)

    def _continue(self, request: dict) -> dict:
        try:
            return self._jobs.resume(_job(request))
        except KeyError:
            raise RequestError.of("error.job", value=shorten(request.get("job"))) from None

    def _cancel(self, request: dict) -> dict:
        self._jobs.cancel(_job(request))
        return {}


def _job(request: dict) -> int:
    job = request.get("job")
    return job if isinstance(job, int) else -1


def _experiment(request: dict) -> Job:
    # Imported when first asked for: whoever waits for the first simulation need not wait for this.
    from app.backend.experiment import experiment_job

    return experiment_job(request)


def _replay(request: dict) -> Job:
    from app.backend.replay import replay_job

    return replay_job(request)


def _sizing(request: dict) -> dict:
    from app.backend.sizing import sizing_response

    return sizing_response(given_settings(request))


def simulate(request: dict) -> dict:
    """Runs a synthetic load whole and returns its recording as columns."""
    values, notices = normalise("simulate", given_settings(request))
    load = LOADS[values["sc"]](values["seed"], STEP_NS)
    config = engine_config(values, load.max_len, STEP_NS, load.prefix_len)
    if config.memory.prefix_len < load.prefix_len:
        key = "notice.prefix" if config.memory.prefix_cache == "none" else "notice.prefix.cache"
        notices.append(notice("warning", key, n=load.prefix_len))
    engine = build_engine(config, load.requests, EventLog())
    recording = record(engine, values["steps"])
    columns = recording_columns(recording, load.requests, values["mode"], load.max_len)
    return {"sources": {"recording": columns}, "notices": told(notices), "settings": values}
