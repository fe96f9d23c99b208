"""What a prompt says: token ids, and what else tells it apart. For those who look whether it is cached."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from pycore.block_tokens import BlockTokens


@dataclass(frozen=True, slots=True)
class Media:
    """A picture or sound whose content stands behind placeholder tokens of a prompt.

    Attributes:
        first: position of its first token, from 0.
        num_tokens: placeholder tokens it takes, at least 1.
        content: names the content: equal names, equal content.
    """

    first: int
    num_tokens: int
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The tokens of a prompt and what they mean only together with.

    Two prompts have equal KV as far as their tokens, adapter and media are equal; a salt keeps tenants apart
    that must not learn of each other by how fast the answer comes.

    Attributes:
        tokens: token ids, 64-bit integers; BlockTokens where a trace tells only which blocks are equal.
        salt: None or empty: shared with all prompts without a salt.
        adapter: name of the fine-tuned adapter (LoRA) that computes it; None: the model alone.
        media: in order of position.

    Raises:
        ValueError: a token, salt, adapter or content of another type or size.

    >>> Prompt((1, 2), salt=7)
    Traceback (most recent call last):
        ...
    ValueError: the salt of a prompt is 7, expected a text or none
    """

    tokens: Sequence[int]
    salt: str | None = None
    adapter: str | None = None
    media: tuple[Media, ...] = ()

    def __post_init__(self) -> None:
        if type(self.tokens) is not BlockTokens:  # whose tokens are integers by design
            packed(self.tokens)
        for name, value in (("salt", self.salt), ("adapter", self.adapter)):
            if value is not None and not isinstance(value, str):
                raise ValueError(f"the {name} of a prompt is {value!r}, expected a text or none")
        object.__setattr__(self, "salt", self.salt or None)  # an empty one is none, as in vLLM and SGLang
        for item in self.media:
            whole = isinstance(item.first, int) and isinstance(item.num_tokens, int)
            if not (whole and isinstance(item.content, str) and item.first >= 0 and item.num_tokens >= 1):
                raise ValueError(f"{item}: expected a text for the content and at least 1 token from 0 on")

    @property
    def is_plain(self) -> bool:
        """Whether nothing but its tokens tells it apart."""
        return self.salt is None and self.adapter is None and not self.media


def packed(tokens: Sequence[int]) -> array:
    """The tokens as 64-bit integers, each checked at the speed of C.

    Raises:
        ValueError: one of them is none.
    """
    try:
        return array("q", tokens)
    except (TypeError, OverflowError):
        each = tokens if isinstance(tokens, Sequence) else ()
        odd = next((token for token in each if not _fits(token)), tokens)
        raise ValueError(f"a token of a prompt is {odd!r}, expected an integer of 64 bits") from None


def _fits(token: object) -> bool:
    return isinstance(token, int) and -(1 << 63) <= token < 1 << 63
