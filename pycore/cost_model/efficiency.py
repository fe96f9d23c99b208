"""How much of a data sheet a serving engine gets out of a GPU."""

from dataclasses import dataclass, field

THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class KernelCurve:
    """How much longer an attention kernel takes to read the KV cache, by block size.

    Attributes:
        points: (block size, time in thousandths of reading the same KV in one piece), block sizes ascending.
        source: where they stand.
    """

    points: tuple[tuple[int, int], ...]
    source: str

    def thousandths(self, block_size: int) -> int:
        """Time for blocks of this size: of the nearest point, between two of them in proportion."""
        before = self.points[0]
        for after in self.points:
            if after[0] >= block_size:
                span = after[0] - before[0]
                if not span or block_size <= before[0]:
                    return after[1]
                return before[1] + (after[1] - before[1]) * (block_size - before[0]) // span
            before = after
        return before[1]


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
    """

    mfu: int = 700
    mbu: int = 800
    link: int = 800
    overhead_ns: int = 500_000
    per_seq_ns: int = 0
    kernel: KernelCurve | None = field(default=None)

    def __post_init__(self) -> None:
        for name in ("mfu", "mbu", "link"):
            if not 1 <= getattr(self, name) <= THOUSAND:
                raise ValueError(f"{name} is {getattr(self, name)}, expected 1 to {THOUSAND} thousandths")
        if self.overhead_ns < 0 or self.per_seq_ns < 0:
            raise ValueError(
                f"overhead_ns is {self.overhead_ns} and per_seq_ns {self.per_seq_ns}, expected 0 or more"
            )


DEFAULT_EFFICIENCY = Efficiency()
