"""Which efficiency factors a run is predicted with, and which run they come from.

Each GPU has factors that were fitted on one run, and they are used as they are on all others. A run is never
judged by factors that come of itself, unless that is asked for: those of the other GPU stand in.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from pycore.cost_model import Efficiency
from pycore.fidelity.measured_run import MeasuredRun
from pycore.fidelity.prediction import UNFITTED
from pycore.fidelity.rtx4090_llama import rtx4090_llama
from pycore.fidelity.rtxpro6000_qwen import rtxpro6000_qwen


@dataclass(frozen=True, slots=True)
class Fitted:
    """Factors, and where they come from.

    Attributes:
        run: name of the run that they were fitted on.
        efficiency: the factors.
    """

    run: str
    efficiency: Efficiency


# Runs that are carried along.
RUNS: dict[str, Callable[[], MeasuredRun]] = {
    "RTX4090_Llama-3.1-8B": rtx4090_llama,
    "RTXPRO6000_Qwen3-32B": rtxpro6000_qwen,
}
# By GPU; what `fit` says of these runs.
BY_GPU: dict[str, Fitted] = {
    "RTX-PRO-6000": Fitted("RTXPRO6000_Qwen3-32B", replace(UNFITTED, mfu=892, mbu=958)),
    "RTX-4090": Fitted("RTX4090_Llama-3.1-8B", replace(UNFITTED, mfu=971, mbu=1000)),
}


def is_same_run(run: MeasuredRun, known: MeasuredRun) -> bool:
    """Whether it is this run, whatever its folder is called.

    A run that is carried along is known to the millisecond only.
    """
    if len(run.measured.requests) != len(known.measured.requests):
        return False
    if run.settings.deployment.model.name != known.settings.deployment.model.name:
        return False
    return abs(run.measured.makespan_ns - known.measured.makespan_ns) <= 1_000_000


def factors_for(run: MeasuredRun) -> Fitted:
    """The factors to predict a run with that they were not fitted on.

    Those of its GPU; for a GPU without, or if they come of this very run, the first others.
    """
    own = BY_GPU.get(run.settings.deployment.gpu.name)
    for each in (own, *BY_GPU.values()):
        if each is not None and not is_same_run(run, RUNS[each.run]()):
            return each
    raise AssertionError("a run is only one of several")
