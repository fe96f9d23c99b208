"""How much of a data sheet a serving engine gets out of a GPU."""

from dataclasses import dataclass

THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class KernelCurve:
    """How much longer an attention kernel takes to read KV out of blocks, by their size.

    Each block is looked up in the block table before it is read: what is added goes with their number.

    Attributes:
        per_block: time to find a block, in thousandths of the time to read one token's KV.
        source: where it stands.
    """

    per_block: int
    source: str

    def thousandths(self, block_size: int) -> int:
        """Time for blocks of this size, in thousandths of reading the same KV in one piece.

        >>> [PAPER_KERNEL.thousandths(size) for size in (1, 8, 16, 32, 256)]
        [4680, 1460, 1230, 1115, 1014]
        """
        return THOUSAND + self.per_block // block_size


# 20 to 26 % longer than a kernel over contiguous KV, in blocks of the default size, 16.
PAPER_KERNEL = KernelCurve(230 * 16, "vLLM paper (Kwon et al., SOSP 2023), section 7.1 and figure 18a")


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Shares of the peaks that are reached, and what a step takes besides.

    Thousandths and nanoseconds, all integers, so that a time is the same on every platform.

    Attributes:
        mfu: model FLOPs utilisation: thousandths of the peak FLOP/s.
        mbu: model bandwidth utilisation: thousandths of the memory bandwidth.
        link: thousandths of the bandwidth between GPUs.
        overhead_ns: of each step, whatever is in it: launching kernels, scheduling, sampling.
        per_seq_ns: of each sequence of a step, on the CPU.
        kernel: how the block size slows the reading of KV; None: not at all.
        hop_ns: of passing something on from one GPU to the next; None: NCCL's estimate for such a link.
    """

    mfu: int = 700
    mbu: int = 800
    link: int = 800
    overhead_ns: int = 500_000
    per_seq_ns: int = 0
    kernel: KernelCurve | None = None
    hop_ns: int | None = None

    def __post_init__(self) -> None:
        for name in ("mfu", "mbu", "link"):
            if not 1 <= getattr(self, name) <= THOUSAND:
                raise ValueError(f"{name} is {getattr(self, name)}, expected 1 to {THOUSAND} thousandths")
        for name in ("overhead_ns", "per_seq_ns", "hop_ns"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}, expected 0 or more")


DEFAULT_EFFICIENCY = Efficiency()
