"""How long a batch takes, in integer nanoseconds: equal steps, a roofline, or kernels one after the other."""

from pycore.cost_model.efficiency import DEFAULT_EFFICIENCY, PAPER_KERNEL, Efficiency, KernelCurve
from pycore.cost_model.fixed_step import FixedStep
from pycore.cost_model.host_link import HostLink
from pycore.cost_model.roofline import Roofline, StepParts
from pycore.cost_model.serial_kernels import SerialKernels
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
    "SerialKernels",
    "StepParts",
    "work_of",
]
