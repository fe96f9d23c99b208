"""A trace file that a user gave → a replay, in slices."""

from collections.abc import Generator
from dataclasses import asdict
from io import BytesIO
from typing import BinaryIO, TypeVar

from app.backend.jobs import Job
from app.backend.request_error import RequestError
from app.backend.settings import Notice, Value, engine_config, normalise, notice, shorten, told
from app.backend.texts import both, shown_range, text
from pycore.config import EngineConfig
from pycore.replay import Replay
from pycore.workload.trace import Trace
from pycore.workload.trace_file import trace_steps
from pycore.workload.trace_problem import ROW_CODES, TraceError, TraceProblem

READ_SHARE = 100  # of a job's progress, reading the file counts as so many of ...
TOTAL_SHARE = 1000  # ... so many parts; the rest is the replay, and from ...
REPLAY_SHARE = 850  # ... here on hit rates, if the trace says what its prompts share
STEPS_AT_ONCE = 32
LISTED_PROBLEMS = 20

Result = TypeVar("Result")


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


def replay_engine_config(values: dict[str, Value]) -> EngineConfig:
    """The engine for normalised replay settings."""
    return engine_config(values, values["maxlen"], round(values["stepms"] * 1_000_000))


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
        reason = problem_text(error.problem)
        sentences = {lang: text(lang, "error.trace", name=name, reason=reason[lang]) for lang in reason}
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


def replay_job(request: dict) -> Job:
    """Reads `request["data"]`, named `request["name"]`, and replays it.

    With `request["keep"]` false, the first bad row ends the job with a sentence, so that the user can decide
    to keep the good ones. `sources["hit_rates"]` is there if the trace says what its prompts share.

    Raises:
        RequestError: the file gives no trace.
    """
    values, notices = normalise("replay", request.get("settings") or {})
    name = shorten(request.get("name") or "trace")
    data = request.get("data") or b""
    content = data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data)
    keep_good = bool(request.get("keep", True))
    read = reading(BytesIO(content), len(content), name, values["limit"], keep_good)
    trace = yield from _shares(read, 0, READ_SHARE)
    replay = Replay(replay_engine_config(values), trace.requests)
    yield from _shares(running(replay), READ_SHARE, REPLAY_SHARE if trace.has_prompts else TOTAL_SHARE)
    sources = {"replay": {"name": name, "format": trace.format, **result_of(replay)}}
    if trace.has_prompts:
        # Imported when first needed: whoever waits for the first simulation need not wait for this.
        from app.backend.hit_rates import shown_hit_rates

        study = shown_hit_rates(trace, values["bs"])
        sources["hit_rates"] = yield from _shares(study, REPLAY_SHARE, TOTAL_SHARE)
    return {
        "sources": sources,
        "notices": told(notices + trace_notices(trace)),
        "settings": values,
    }


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
