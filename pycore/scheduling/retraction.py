"""SGLang's answer to a full pool: which running request gives way, and how admission is held back.

Admission sets aside a share of the tokens that running requests may still generate. The share falls step by
step as long as all goes well; after a retraction it is set from what the requests have come to by then.
"""

from collections.abc import Iterable
from collections.abc import Sequence as Series

from pycore.request import Sequence

CLIP = 4096  # tokens to come that are counted at most
INITIAL = 0.7
FLOOR = 0.14  # of the initial share
DECAY_STEPS = 600
STEPS_AHEAD = 20


def fewest_outputs(running: Iterable[Sequence]) -> Sequence:
    """The sequence with the fewest generated tokens; the longest prompt, then the latest, among equals."""
    return min(
        enumerate(running),
        key=lambda each: (each[1].num_generated, -each[1].request.prompt_len, -each[0]),
    )[1]


class NewTokenRatio:
    """The share of their possible tokens that running requests are expected to generate.

    Attributes:
        initial, floor: where it starts, and how far it falls.
        decay: by how much it falls in a step without a retraction.
        value: now.

    >>> ratio = NewTokenRatio()
    >>> ratio.step(); round(ratio.value, 6)
    0.698997
    >>> ratio.retracted(generated=[10, 10, 40, 3], may_generate=[200, 200, 100, 64]); round(ratio.value, 4)
    0.2531
    """

    __slots__ = ("decay", "floor", "initial", "value")

    def __init__(self, conservativeness: float = 1.0) -> None:
        """Starts at 0.7 · `conservativeness`, at most 1.

        Raises:
            ValueError: a negative conservativeness.
        """
        if conservativeness < 0:
            raise ValueError(f"conservativeness is 0 or more, not {conservativeness}")
        self.initial = min(INITIAL * conservativeness, 1.0)
        self.floor = self.initial * FLOOR
        self.decay = (self.initial - self.floor) / DECAY_STEPS
        self.value = self.initial

    def step(self) -> None:
        """A step went by without a retraction."""
        self.value = max(self.value - self.decay, self.floor)

    def retracted(self, generated: Iterable[int], may_generate: Iterable[int]) -> None:
        """Requests were retracted; those that still run have generated so many of so many tokens each."""
        generated = list(generated)
        expected = sum(generated) + STEPS_AHEAD * len(generated)
        self.value = min(1.0, expected / (sum(may_generate) + 1))

    def reset(self) -> None:
        """Nobody runs or waits any more."""
        self.value = self.initial


def tokens_to_come(seq: Sequence) -> int:
    """What a sequence may still generate, as far as it counts."""
    return min(max(seq.total_len - seq.num_tokens, 0), CLIP)


class SetAside:
    """What admission leaves free for the tokens to come: all of those admitted in the same pass, and of those
    that run a share.

    Attributes:
        ratio: the share.
    """

    def __init__(self, conservativeness: float = 1.0) -> None:
        """Nobody runs."""
        self.ratio = NewTokenRatio(conservativeness)
        self._tokens: float = 0

    def begin(self, running: Iterable[Sequence]) -> None:
        """A pass over the queue begins."""
        self._tokens = sum([tokens_to_come(seq) * self.ratio.value for seq in running])

    def leaves(self, group: Series[Sequence], tokens: int, page_size: int, free: int) -> bool:
        """Whether a group can be admitted.

        Args:
            group: the sequences of one request.
            tokens: slots that leave what is free if it is admitted, but for the rest of a last page.
            page_size: slots a page; one more is counted for each sequence.
            free: slots that are free or evictable.
        """
        to_come = sum([tokens_to_come(seq) + page_size for seq in group])
        return tokens + to_come < free - self._tokens

    def admitted(self, group: Series[Sequence], page_size: int) -> None:
        """A group was admitted, and given room for what it has so far.

        Until the pass ends all that it may generate counts, what it generated before a retraction included.
        """
        self._tokens += sum([min(seq.request.output_len, CLIP) + page_size for seq in group])
