"""What came of a forward pass."""

from dataclasses import dataclass, field

from pycore.request import Sequence


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a forward pass decided.

    Attributes:
        tokens: next token id by sequence id; empty where tokens are only counted.
        branches: by request id, for each request whose sequences part in this step (the first token of
            parallel samples, every token of a beam search): parent and next token of each sequence that goes
            on, in order. A sequence that is nobody's parent is dropped.
    """

    tokens: dict[int, int] = field(default_factory=dict)
    branches: dict[int, list[tuple[Sequence, int | None]]] = field(default_factory=dict)
