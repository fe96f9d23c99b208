"""What tensor parallelism pays: the GPUs add up their partial results twice in each layer."""

from pycore.cost_model.efficiency import Efficiency
from pycore.cost_model.rate import Rate
from pycore.specs import Deployment

_A_LAYER = 2  # after attention and after the MLP
_ACTIVATION_BYTES = 2
# NCCL's own estimates for a ring, protocol LL (src/graph/tuning.cc): start, and a hop over NVLink or PCIe.
_START_NS = 6_600
_NVLINK_HOP_NS = 600
_PCIE_HOP_NS = 1_000


class AllReduce:
    """A ring: each GPU passes on 2 (tp − 1) / tp of the activations in 2 (tp − 1) hops."""

    __slots__ = ("_bytes_per_token", "_latency_ns", "_rate")

    def __init__(self, deployment: Deployment, efficiency: Efficiency) -> None:
        """Args: see there."""
        tp, gpu, model = deployment.tp, deployment.gpu, deployment.model
        count, hops = _A_LAYER * model.num_layers, 2 * (tp - 1)
        hop_ns = efficiency.hop_ns
        if hop_ns is None:
            hop_ns = _NVLINK_HOP_NS if gpu.has_nvlink else _PCIE_HOP_NS
        self._latency_ns = count * (_START_NS + hops * hop_ns) if tp > 1 else 0
        self._bytes_per_token = count * hops * model.hidden_size * _ACTIVATION_BYTES
        self._rate = Rate(gpu.link_bandwidth * tp, efficiency.link)

    def ns(self, tokens: int) -> int:
        """Time of all of a step's, in ns; 0 on one GPU."""
        return self._latency_ns + self._rate.ns(tokens * self._bytes_per_token)
