"""What a GPU can do, by its data sheet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSpec:
    """A GPU, without sparsity in any figure.

    Attributes:
        name: as its maker spells it.
        memory_bytes: device memory.
        bandwidth: of the device memory, in bytes/s.
        flops_16: peak with 16-bit numbers, in FLOP/s.
        flops_8: peak with 8-bit floating-point numbers, in FLOP/s; 0: it has none.
        host_bandwidth: of the link to the CPU, one way, in bytes/s.
        link_bandwidth: of the link to the other GPUs of a machine, one way, in bytes/s.
        source: where the figures stand.
    """

    name: str
    memory_bytes: int
    bandwidth: int
    flops_16: int
    flops_8: int
    host_bandwidth: int
    link_bandwidth: int
    source: str

    @property
    def has_nvlink(self) -> bool:
        """Whether the GPUs have a link of their own, faster than the one to the CPU."""
        return self.link_bandwidth > self.host_bandwidth

    def peak_flops(self, weights_bits: int) -> int:
        """FLOP/s with weights of so many bits.

        8 bits are multiplied as such where the GPU can. 4-bit weights are unpacked to 16 bits first, as
        weight-only quantisation does: they save memory and traffic, not arithmetic.
        """
        return self.flops_8 if weights_bits == 8 and self.flops_8 else self.flops_16
