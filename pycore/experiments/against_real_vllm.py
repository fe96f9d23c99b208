"""How near does the simulator come to vLLM on a real GPU? Runs that somebody else measured, predicted."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

from pycore.cost_model import Roofline
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import PERCENT, SECONDS, Chart, Result, Table
from pycore.fidelity.comparison import Compared, compare, overlaid
from pycore.fidelity.factors import BY_GPU, RUNS, Fitted, factors_for
from pycore.fidelity.measured_run import MeasuredRun, Outcome
from pycore.fidelity.prediction import cost_model, least_ns, predicting
from pycore.specs import find_gpu

_KEYS = Keys("against_real_vllm")

RUN_OF = {"rtx4090_llama": "RTX4090_Llama-3.1-8B", "rtxpro6000_qwen": "RTXPRO6000_Qwen3-32B"}
FACTORS = ("other_run", "same_run")
TEXTBOOK_IS_OFF = 10  # percent of the makespan
POINTS = 30  # of a time line
PERCENTILES = tuple(range(5, 100, 5))
_MS = 10**6
_SECOND = 10**9
# Quantity → unit and digits in which it is shown.
_SHOWN = {
    "ttft": (_MS, 0),
    "tpot": (_MS, 1),
    "end_to_end": (_MS, 0),
    "makespan": (_SECOND, 1),
    "throughput": (1, 0),
    "running": (1, 1),
    "waiting": (1, 1),
}


def measure(settings: Mapping[str, Setting]) -> Work:
    """Predicts one run, and once more by the textbook; progress counts requests that ended."""
    run = RUNS[RUN_OF[settings["run"]]]()
    gpu = run.settings.deployment.gpu
    fitted = BY_GPU[gpu.name] if settings["factors"] == "same_run" else factors_for(run)
    total = len(run.measured.requests)
    predicted = yield from _piece(run, fitted, 0, 2 * total)
    textbook = yield from _textbook(run, total)
    rows = compare(run.measured, predicted)
    figures = _figures(run, predicted, fitted, rows)
    plain = compare(run.measured, textbook)
    figures |= {f"textbook_{name}": value for name, value in _errors(plain).items()}
    return Result(settings, figures, (_table(rows),), _charts(run.measured, predicted))


def _piece(run: MeasuredRun, fitted: Fitted, before: int, total: int) -> Generator[tuple, None, Outcome]:
    work = predicting(run, cost_model(run.settings, fitted.efficiency))
    return (yield from _counted(work, before, total))


def _textbook(run: MeasuredRun, before: int) -> Generator[tuple, None, Outcome]:
    """The same run as a textbook has it.

    The roofline of the data sheet at 70 and 80 % and half a millisecond, a step decided when it begins, and
    whoever was preempted computed again from the beginning.
    """
    deployment = run.settings.deployment
    plain = replace(deployment, gpu=find_gpu(deployment.gpu.name))
    settings = replace(run.settings, deployment=plain, prefix_caching=False, scheduled_ahead=False)
    run = replace(run, settings=settings)
    return (yield from _counted(predicting(run, Roofline(plain)), before, 2 * before))


def _counted(
    work: Generator[tuple[int, int], None, Outcome], before: int, total: int
) -> Generator[tuple, None, Outcome]:
    """The work, its progress counted after what was done before."""
    while True:
        try:
            done, _ = next(work)
        except StopIteration as end:
            return end.value
        yield before + done, total


def _errors(rows: Sequence[Compared]) -> dict[str, float]:
    """Errors in percent, without sign, of the figures that have a goal."""
    return {each.quantity: abs(each.error) for each in rows if each.goal is not None}


def _figures(run: MeasuredRun, predicted: Outcome, fitted: Fitted, rows: Sequence[Compared]) -> dict:
    least_makespan, least_tpot = least_ns(run, predicted)
    figures = {f"{name}_error": value for name, value in _errors(rows).items()}
    for each in rows:
        unit, digits = _SHOWN[each.quantity]
        figures[f"{each.quantity}_{each.statistic}"] = round(each.predicted / unit, digits)
        figures[f"measured_{each.quantity}_{each.statistic}"] = round(each.measured / unit, digits)
    return figures | {
        "run": run.name,
        "fitted_on": fitted.run,
        "mfu": fitted.efficiency.mfu / 10,
        "mbu": fitted.efficiency.mbu / 10,
        "requests": len(run.measured.requests),
        "least_makespan": round(least_makespan / _SECOND, 1),
        "least_tpot": round(least_tpot / _MS, 1),
        "quickest_tpot": round(min(each.tpot_ns or 0 for each in predicted.requests) / _MS, 1),
    }


def _table(rows: Sequence[Compared]) -> Table:
    columns = (
        _KEYS.column("figure", "key"),
        _KEYS.column("measured", "float"),
        _KEYS.column("predicted", "float"),
        _KEYS.column("error", "float", PERCENT),
        _KEYS.column("goal", "int", PERCENT),
    )
    cells = []
    for each in rows:
        unit, digits = _SHOWN[each.quantity]
        both = (round(value / unit, digits) for value in (each.measured, each.predicted))
        cells.append((_KEYS.of(f"row.{each.quantity}_{each.statistic}"), *both, each.error, each.goal))
    return _KEYS.table("errors", columns, cells)


def _charts(measured: Outcome, predicted: Outcome) -> tuple[Chart, ...]:
    names = (_KEYS.of("series.measured"), _KEYS.of("series.predicted"))
    time, sequences = _KEYS.column("time", "int", SECONDS), _KEYS.column("sequences")
    seconds, lines = overlaid((measured.time_line, predicted.time_line), POINTS)
    charts = [
        _KEYS.chart(
            name,
            "line",
            time,
            seconds,
            sequences,
            {key: [load[i] for load in line] for key, line in zip(names, lines, strict=True)},
        )
        for i, name in enumerate(("running", "waiting"))
    ]
    share = _KEYS.column("share", "int", PERCENT)
    for name, unit, axis in (
        ("ttft", _SECOND, _KEYS.column("ttft", "float", SECONDS)),
        ("tpot", _MS, _KEYS.column("tpot", "float", "experiment.unit.milliseconds")),
    ):
        values = {}
        for key, outcome in zip(names, (measured, predicted), strict=True):
            found = (getattr(each, f"{name}_ns") for each in outcome.requests)
            ordered = sorted(ns for ns in found if ns is not None)
            at = [ordered[len(ordered) * percent // 100] for percent in PERCENTILES]
            values[key] = [round(ns / unit, 2) for ns in at]
        charts.append(_KEYS.chart(name, "line", share, PERCENTILES, axis, values))
    return tuple(charts)


def _within_goals(result: Result) -> bool:
    figures = result.figures
    return figures["tpot_error"] <= 10 and figures["makespan_error"] <= 10 and figures["ttft_error"] <= 15


def _textbook_is_off(result: Result) -> bool:
    figures = result.figures
    off = figures["textbook_makespan"]
    return off > TEXTBOOK_IS_OFF and off > figures["makespan_error"]


def _above_the_bound(result: Result) -> bool:
    figures = result.figures
    return (
        figures["makespan_total"] >= figures["least_makespan"]
        and figures["quickest_tpot"] >= figures["least_tpot"]
    )


AGAINST_REAL_VLLM = Experiment(
    name="against_real_vllm",
    subject="serving",
    params=(
        Param("run", "choice", "rtx4090_llama", choices=tuple(RUN_OF)),
        Param("factors", "choice", "other_run", choices=FACTORS),
    ),
    presets=(
        Preset("rtx4090", {}),
        Preset("rtxpro6000", {"run": "rtxpro6000_qwen"}),
        Preset("rtx4090_fitted", {"factors": "same_run"}),
        Preset("rtxpro6000_fitted", {"run": "rtxpro6000_qwen", "factors": "same_run"}),
    ),
    claims=(
        Claim("within_goals", "measured_vllm", _within_goals),
        Claim("textbook_is_off", "measured_vllm", _textbook_is_off),
        Claim("above_the_bound", "here", _above_the_bound),
    ),
    measure=measure,
)
