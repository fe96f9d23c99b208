"""Copies of KV blocks between GPU and CPU memory."""

from dataclasses import dataclass

from pycore.cost_model.rate import Rate
from pycore.specs import Deployment, GpuSpec, kv_bytes

# What large copies reach of the data sheet's bandwidth: 25 GB/s of PCIe 4.0's 32, 50 of 5.0's 64 (facts G5).
_REACHED = (25, 32)


@dataclass(frozen=True, slots=True)
class HostLink:
    """The link between a GPU and the CPU.

    Attributes:
        bytes_per_second: that large copies reach, one way.
        per_copy_ns: what each copied block takes besides; small blocks are dominated by it (vLLM paper, 7.3).
    """

    bytes_per_second: int
    per_copy_ns: int = 10_000

    @classmethod
    def of(cls, gpu: GpuSpec) -> "HostLink":
        """The link of this GPU.

        >>> from pycore.specs import A100_40GB
        >>> HostLink.of(A100_40GB).bytes_per_second
        25000000000
        """
        return cls(gpu.host_bandwidth * _REACHED[0] // _REACHED[1])

    def ns(self, size: int, copies: int) -> int:
        """Time to copy `size` bytes in so many pieces, one way."""
        return Rate(self.bytes_per_second).ns(size) + copies * self.per_copy_ns

    def swap_ns(self, deployment: Deployment, tokens: int, block_size: int) -> int:
        """Time to copy the KV of one sequence, one way; each GPU copies its shard over a link of its own.

        Args:
            deployment: what runs on what.
            tokens: of the sequence with KV.
            block_size: token slots a block; a block is one copy.
        """
        size = kv_bytes(deployment.model, tokens, deployment.kv_bits, deployment.tp)
        return self.ns(size, -(-tokens // block_size))
