"""Whose radix tree it is: where implementations differ."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RadixRules:
    """Where implementations of the tree differ.

    Attributes:
        split_is_use: a match that ends inside a stretch counts as a use of both halves; else of neither.
        partial_eviction: `evict` gives up what there is if it is asked for more; else it refuses.
    """

    split_is_use: bool = True
    partial_eviction: bool = True


SGLANG = RadixRules()
MINI_SGLANG = RadixRules(split_is_use=False, partial_eviction=False)
