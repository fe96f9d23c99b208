"""How long a batch takes, in integer nanoseconds: equal steps, or the roofline of a model on a GPU."""

from pycore.cost_model.efficiency import DEFAULT_EFFICIENCY, PAPER_KERNEL, Efficiency, KernelCurve
from pycore.cost_model.fixed_step import FixedStep
from pycore.cost_model.host_link import HostLink
from pycore.cost_model.roofline import Roofline
from pycore.cost_model.step_time import CostModel
from pycore.cost_model.work import NO_DECODES, Chunk, Decodes, work_of

__all__ = [
    "DEFAULT_EFFICIENCY",
    "NO_DECODES",
    "PAPER_KERNEL",
    "Chunk",
    "CostModel",
    "Decodes",
    "Efficiency",
    "FixedStep",
    "HostLink",
    "KernelCurve",
    "Roofline",
    "work_of",
]
