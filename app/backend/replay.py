"""A trace file that a user gave, or a load that comes along → a replay, in slices."""

from collections.abc import Generator, Mapping
from collections.abc import Sequence as Series
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from typing import BinaryIO, TypeVar

from app.backend.deployment import deployment, room
from app.backend.jobs import Job, JobStoppedError
from app.backend.replay_loads import BUILT_IN, MOST_REQUESTS
from app.backend.request_error import RequestError
from app.backend.settings import (
    Notice,
    Value,
    engine_config,
    given_settings,
    normalise,
    notice,
    shorten,
    told,
)
from app.backend.texts import both, shown_range, text
from pycore.capacity import VLLM_MEMORY, EngineMemory
from pycore.config import EngineConfig
from pycore.latency import Slo
from pycore.replay import Replay
from pycore.request import Request
from pycore.specs import find_model
from pycore.workload.trace import Trace
from pycore.workload.trace_file import trace_steps
from pycore.workload.trace_problem import ROW_CODES, TraceError, TraceProblem

READ_SHARE = 100  # of a job's progress, reading the file counts as so many of ...
TOTAL_SHARE = 1000  # ... so many parts; the rest is the replay, and from ...
REPLAY_SHARE = 850  # ... here on hit rates, if the trace says what its prompts share
STEPS_AT_ONCE = 256  # most of them are leapt over
LISTED_PROBLEMS = 20
NS_PER_MS = 1_000_000
MOST_PAGES = 20_000_000  # of a radix tree, a token each: 1 GB

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Given:
    """What is to be replayed.

    Attributes:
        name: of the file, or of the load in BUILT_IN.
        format: as of a Trace; "built-in" of a load.
        requests: in order of arrival.
        notices: on how it was read.
    """

    name: str
    format: str
    requests: Series[Request]
    notices: Series[Notice] = ()


def problem_text(problem: TraceProblem) -> dict[str, str]:
    """What is wrong with a row or a file, in every language."""
    return both(
        f"trace.{problem.code}",
        line=problem.line,
        column=problem.column or "",
        value=shorten(problem.value),
        expected=shown_range(problem.expected),
    )


def trace_notices(trace: Trace) -> list[Notice]:
    """What the reader left out or decided by itself, worst first."""
    notices = []
    if trace.bad_rows:
        counts = {"bad": trace.bad_rows, "total": trace.total_rows, "good": len(trace.requests)}
        notices.append(notice("warning", "notice.trace.kept", **counts))
    shown = trace.problems[:LISTED_PROBLEMS]
    notices += [Notice("warning", f"trace.{problem.code}", problem_text(problem)) for problem in shown]
    if trace.bad_rows > len(shown):
        notices.append(notice("warning", "notice.trace.more_problems", n=trace.bad_rows - len(shown)))
    notices += [Notice("info", f"trace.{problem.code}", problem_text(problem)) for problem in trace.notices]
    if trace.truncated:
        notices.append(notice("info", "notice.trace.limited", n=len(trace.requests)))
    return notices


def replay_engine_config(values: Mapping[str, Value]) -> EngineConfig:
    """The engine for normalised replay settings.

    Raises:
        RequestError: a model that cannot be put on these GPUs, or does not fit; a tree of too many pages.
    """
    step_ns = round(values["stepms"] * NS_PER_MS)
    blocks = values["blocks"] or fitting_blocks(values)
    if values["cache"] == "radix" and blocks * values["bs"] > MOST_PAGES:
        raise RequestError.of("replay.error.pages", tokens=blocks * values["bs"], most=MOST_PAGES)
    return engine_config(
        {**values, "blocks": blocks},
        values["maxlen"] or find_model(values["model"]).max_context,
        step_ns or 1,
        deployment=None if step_ns else deployment(values),
    )


def fitting_blocks(values: Mapping[str, Value]) -> int:
    """Blocks that fit beside the weights and what the engine takes for itself.

    Raises:
        RequestError: see deployment.room.
    """
    tokens = values["budget"] or VLLM_MEMORY.max_num_batched_tokens
    return room(values, EngineMemory(tokens, values["seqs"])).num_blocks


def make_replay(values: Mapping[str, Value], requests: Series[Request]) -> Replay:
    """A replay before its first step.

    Args:
        values: every replay setting, allowed.
        requests: of the trace.

    Raises:
        RequestError: see replay_engine_config.
    """
    slo = Slo(round(values["slottft"] * NS_PER_MS), round(values["slotpot"] * NS_PER_MS))
    return Replay(replay_engine_config(values), sped_up(requests, values["speed"]), slo=slo)


def sped_up(requests: Series[Request], speed: float) -> Series[Request]:
    """The same requests, arriving `speed` times as fast."""
    if speed == 1:
        return requests
    return [replace(request, arrival_ns=round(request.arrival_ns / speed)) for request in requests]


def reading(
    stream: BinaryIO, size: int, name: str, limit: int | None, keep_good: bool
) -> Generator[tuple[int, int], None, Trace]:
    """Reads a trace in slices.

    Args:
        stream, size: see trace_steps.
        name: of the file, as it may be repeated to the user (see shorten).
        limit: read the first so many good rows only; None for all.
        keep_good: leave bad rows out, rather than stop at the first.

    Yields:
        Bytes read and bytes in all.

    Returns:
        The trace.

    Raises:
        RequestError: the file gives no trace.
    """
    steps = trace_steps(stream, size, name, limit, keep_good)
    try:
        while True:
            progress = next(steps)
            yield progress.done, progress.total
    except StopIteration as end:
        return end.value
    except TraceError as error:
        reasons = [problem_text(each) for each in error.problems[:2]]  # if no row is good, that and the first
        sentences = {
            lang: text(lang, "error.trace", name=name, reason=" ".join(each[lang] for each in reasons))
            for lang in reasons[0]
        }
        remedy = "keep_good" if error.problem.code in ROW_CODES else ""
        raise RequestError(sentences, remedy) from None
    finally:
        steps.close()


def running(replay: Replay) -> Generator[tuple[int, int], None, None]:
    """Runs a replay to its end in slices; yields the requests that have ended, and all."""
    while not replay.done:
        replay.advance(STEPS_AT_ONCE)
        yield replay.num_ended, replay.num_requests


def result_of(replay: Replay) -> dict:
    """What the steps run so far came to, as plain JSON; `prefix` if a prefix cache was asked."""
    result, stats = replay.result().as_dict(), replay.prefix_stats
    return result if stats is None else {**result, "prefix": {**asdict(stats), "hit_rate": stats.hit_rate}}


def hung_notices(result: Mapping[str, object], values: Mapping[str, Value]) -> list[Notice]:
    """That some requests never end, if so.

    Args:
        result: as of `result_of`.
        values: the settings it ran with.
    """
    if not result["num_hung"]:
        return []
    fields = {"n": result["num_hung"], "total": result["num_requests"], "request": result["hung_on"]}
    return [notice("warning", "replay.hung", capacity=result["capacity"], rules=values["rules"], **fields)]


def replay_job(request: dict) -> Job:
    """Replays what `request` gives: see `_file` and `_built_in`.

    A job that is stopped keeps what the steps run by then came to; sources["replay"]["partial"] says so.
    `sources["hit_rates"]` is there if the whole trace was replayed and says what its prompts share.

    Raises:
        RequestError: the file gives no trace, or no engine can be built.
    """
    values, notices = normalise("replay", given_settings(request))
    load = request.get("load")
    given = _built_in(load, values) if load else (yield from _file(request, values["limit"]))
    notices += given.notices
    replay = make_replay(values, given.requests)
    has_prompts = given.requests[0].prompt is not None
    try:
        yield from _shares(running(replay), READ_SHARE, REPLAY_SHARE if has_prompts else TOTAL_SHARE)
    except JobStoppedError:
        notices.append(notice("warning", "replay.partial", done=replay.num_ended, total=replay.num_requests))
    partial = not replay.done
    result = {**result_of(replay), "partial": partial, "percentiles": replay.percentiles()}
    notices += hung_notices(result, values)
    sources = {"replay": {"name": given.name, "format": given.format, **result}}
    if has_prompts and not partial:
        # Imported when first needed: whoever waits for the first simulation need not wait for this.
        from app.backend.hit_rates import shown_hit_rates

        study = shown_hit_rates(given.requests, values["bs"])
        with suppress(JobStoppedError):  # the replay itself is whole
            sources["hit_rates"] = yield from _shares(study, REPLAY_SHARE, TOTAL_SHARE)
    return {"sources": sources, "notices": told(notices), "settings": values}


def _built_in(load: object, values: Mapping[str, Value]) -> _Given:
    """The load called `load`, as many requests of it as are asked for.

    Raises:
        RequestError: there is no such load.
    """
    if not isinstance(load, str) or load not in BUILT_IN:
        raise RequestError.of("replay.error.load", value=shorten(load), expected=", ".join(BUILT_IN))
    num = min(values["limit"], MOST_REQUESTS)
    cut = [notice("info", "replay.load.most", n=num)] if num < values["limit"] else []
    return _Given(load, "built-in", tuple(BUILT_IN[load](values["seed"], num)), cut)


def _file(request: dict, limit: int) -> Generator[tuple[int, int], None, _Given]:
    """Reads `request["data"]`, named `request["name"]`, in slices.

    With `request["keep"]` false, the first bad row ends it with a sentence, so that the user can decide to
    keep the good ones.

    Raises:
        RequestError: the file gives no trace.
    """
    name = shorten(request.get("name") or "trace")
    data = request.get("data")
    if not isinstance(data, str | bytes | None):
        raise RequestError.of("replay.error.data", value=type(data).__name__)
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data or b""
    read = reading(BytesIO(content), len(content), name, limit, bool(request.get("keep", True)))
    trace = yield from _shares(read, 0, READ_SHARE)
    return _Given(name, trace.format, trace.requests, trace_notices(trace))


def _shares(
    work: Generator[tuple[int, int], None, Result], first: int, last: int
) -> Generator[tuple[int, int], None, Result]:
    """The same work, its progress as shares of the job between `first` and `last`."""
    try:
        while True:
            done, total = next(work)
            yield first + done * (last - first) // max(1, total), TOTAL_SHARE
    except StopIteration as end:
        return end.value
    finally:
        work.close()
