"""A trace file that a user gave → a replay, in slices."""

from collections.abc import Generator, Mapping
from collections.abc import Sequence as Series
from dataclasses import asdict, replace
from io import BytesIO
from typing import BinaryIO, TypeVar

from app.backend.deployment import deployment, room
from app.backend.jobs import Job
from app.backend.request_error import RequestError
from app.backend.settings import Notice, Value, engine_config, normalise, notice, shorten, told
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


def replay_engine_config(values: Mapping[str, Value]) -> EngineConfig:
    """The engine for normalised replay settings.

    Raises:
        RequestError: a model that cannot be put on these GPUs, or does not fit.
    """
    step_ns = round(values["stepms"] * NS_PER_MS)
    return engine_config(
        {**values, "blocks": values["blocks"] or fitting_blocks(values)},
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
    replay = make_replay(values, trace.requests)
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
