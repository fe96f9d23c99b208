"""The kernels of a step one after the other: its times add up, where the roofline takes the longest.

    ns = FLOPs / (MFU · peak) + weights / (MBU · bandwidth) + KV / (MBU · bandwidth) · kernel
         + all-reduces + overhead

A roofline is what is possible: all arithmetic hidden behind the reading of weights, or the other way round.
What was measured of vLLM 0.19 (see `pycore.fidelity`) lies close to the sum: each sequence more in a batch of
decodes takes longer by about its arithmetic, though reading the weights takes several times as long, and a
large prefill takes its arithmetic and the reading of all weights. The sum is at most twice the roofline.

The input embedding is not read as a whole, but looked up.
"""

from pycore.cost_model.decode_line import SerialDecodeLine
from pycore.cost_model.efficiency import DEFAULT_EFFICIENCY, THOUSAND, Efficiency
from pycore.cost_model.host_link import HostLink
from pycore.cost_model.roofline import Roofline
from pycore.specs import Deployment


class SerialKernels(Roofline):
    """A CostModel of a model on one or more GPUs; see Roofline for its attributes."""

    _line_of = SerialDecodeLine

    def __init__(
        self,
        deployment: Deployment,
        efficiency: Efficiency = DEFAULT_EFFICIENCY,
        block_size: int = 16,
        host_link: HostLink | None = None,
    ) -> None:
        """Args: see Roofline."""
        super().__init__(deployment, efficiency, block_size, host_link)
        model = deployment.model
        if not model.tied:
            self._dense_bytes -= model.head_params * 2 // deployment.tp * THOUSAND

    def _together(self, compute: int, traffic: int) -> int:
        """How long both take: here, their sum."""
        return compute + traffic
