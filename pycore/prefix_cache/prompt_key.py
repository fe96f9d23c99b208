"""Under what a radix tree finds a prompt: token ids, and what keeps equal ones apart."""

from array import array
from collections.abc import Hashable, Sequence
from hashlib import blake2b

from pycore.prompt import Media, Prompt


class PromptKey:
    """The tokens of a sequence as a tree takes them; grows with the sequence.

    Tokens behind which pictures or sounds stand are the same whatever is to be seen or heard, so each is
    replaced by a number that comes of the content, as SGLang does. Prompts of different adapters or salts
    share nothing.

    Attributes:
        prompt: whose key it is.
        tokens: so far; to be read only.
        namespace: see RadixCache.

    >>> from pycore.prompt import Prompt
    >>> key = PromptKey(Prompt((1, 2, 3), salt="a"))
    >>> key.extend([1, 2, 3, 4])
    >>> list(key.tokens), key.namespace
    ([1, 2, 3, 4], (None, 'a'))
    """

    __slots__ = ("namespace", "prompt", "tokens")

    def __init__(self, prompt: Prompt) -> None:
        """The key of a prompt."""
        self.prompt = prompt
        plain = prompt.adapter is None and prompt.salt is None
        self.namespace: Hashable = None if plain else (prompt.adapter, prompt.salt)
        self.tokens = array("q", prompt.tokens)
        for media in prompt.media:
            end = min(media.first + media.num_tokens, len(self.tokens))
            self.tokens[media.first : end] = array("q", [_number(media)]) * max(0, end - media.first)

    def extend(self, tokens: Sequence[int]) -> None:
        """Adds those of `tokens`, all of the sequence, that are not there yet."""
        have = len(self.tokens)
        if len(tokens) > have:
            self.tokens.extend(tokens[have:])


def _number(media: Media) -> int:
    """A 64-bit integer that stands for the content, far below what a model runner makes up."""
    digest = blake2b(media.content.encode(), digest_size=7).digest()
    return -(1 << 63) + int.from_bytes(digest, "big")
