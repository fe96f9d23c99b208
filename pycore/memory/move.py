"""Copies of blocks that memory management asks of whoever holds the KV itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """One block to be copied, before the batch that it came with is computed.

    Attributes:
        kind: "copy" (GPU to GPU, on a write into a shared block), "out" (GPU to CPU) or "in" (CPU to GPU).
        source, target: block numbers, each in the space that the kind says.
    """

    kind: str
    source: int
    target: int
