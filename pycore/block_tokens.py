"""Tokens that are known by blocks only: a trace says which blocks are equal, and not what is in them.

ids           [ 7 ] [ 9 ] [ 4 ]            block size 4, a prompt of 11 tokens
tokens   28 29 30 31  36 37 38 39  16 17 18      token i of a block is id · 4 + i, a number like any other
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import overload

# Tokens of no block are below this: a runner that only counts names what it generates from -1 downwards.
_UNKNOWN = -(1 << 62)
MAX_ID = (1 << 40) - 1
MAX_BLOCK_SIZE = 1 << 20  # so that every token is a 64-bit integer


class BlockTokens(Sequence[int]):
    """The tokens of a prompt of which each block has an id; equal ids mean equal blocks.

    Takes memory for its ids, not for its tokens: those are made when they are asked for. Because token i of
    a block is a function of the block's id, two prompts have the same tokens exactly where they have the same
    ids, and a cache may cut them into pages of any size: a page is found again if all of it lies in blocks
    that are. What no id stands for (as a last block that is not full in some traces) is like nothing else.

    Attributes:
        ids: of the blocks from the first token on, 0 … MAX_ID.
        block_size: tokens a block; the last one may have fewer.
        number: tells the tokens that have no id apart from those of other prompts, 0 … MAX_ID.

    >>> prompt = BlockTokens((7, 9, 4), 4, 11)
    >>> list(prompt[3:10]), prompt[-1], len(prompt)
    ([31, 36, 37, 38, 39, 16, 17], 18, 11)
    """

    __slots__ = ("_length", "block_size", "ids", "number")

    def __init__(self, ids: Sequence[int], block_size: int, length: int, number: int = 0) -> None:
        """`length` tokens.

        Raises:
            ValueError: a size, number or id out of range, or more ids than blocks.
        """
        if not 1 <= block_size <= MAX_BLOCK_SIZE or not 0 <= number <= MAX_ID:
            raise ValueError(f"blocks of {block_size} tokens, number {number}: out of range")
        if len(ids) > -(-length // block_size):
            raise ValueError(f"{len(ids)} ids for {length} tokens in blocks of {block_size}")
        if ids and not (min(ids) >= 0 and max(ids) <= MAX_ID):
            raise ValueError(f"ids of blocks from {min(ids)} to {max(ids)}, expected 0 to {MAX_ID}")
        self.ids = ids
        self.block_size = block_size
        self.number = number
        self._length = length

    @property
    def num_known(self) -> int:
        """Tokens that ids stand for."""
        return min(self._length, len(self.ids) * self.block_size)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._pieces(0, self._length))

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...
    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        """One token, or a part; a part that lies in one block is a range, and takes no time to make."""
        if isinstance(at, slice):
            start, stop, step = at.indices(self._length)
            if step != 1:
                return [self[i] for i in range(start, stop, step)]
            pieces = list(self._pieces(start, stop))
            return pieces[0] if len(pieces) == 1 else list(chain.from_iterable(pieces))
        position = at + self._length if at < 0 else at
        if not 0 <= position < self._length:
            raise IndexError(f"token {at} of {self._length}")
        return next(self._pieces(position, position + 1))[0]

    def _pieces(self, start: int, stop: int) -> Iterator[range]:
        """The tokens from `start` to `stop`, a range for each block."""
        size, known = self.block_size, min(stop, self.num_known)
        while start < known:
            block, offset = divmod(start, size)
            first = self.ids[block] * size + offset
            length = min(size - offset, known - start)
            yield range(first, first + length)
            start += length
        if start < stop:
            # A block that is not named is shorter than MAX_BLOCK_SIZE, so no two prompts meet.
            first = _UNKNOWN - self.number * MAX_BLOCK_SIZE - (start - self.num_known)
            yield range(first, first - (stop - start), -1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockTokens):
            return NotImplemented
        mine, its = ((each.block_size, len(each), each.number, tuple(each.ids)) for each in (self, other))
        return mine == its

    def __repr__(self) -> str:
        return f"<{self._length} tokens in {len(self.ids)} blocks of {self.block_size}>"


class GrowingTokens(Sequence[int]):
    """The tokens of a prompt that are known by blocks, and those that were generated after it.

    >>> tokens = GrowingTokens(BlockTokens((7,), 4, 3))
    >>> tokens.append(-1)
    >>> list(tokens), tokens[-1], list(tokens[2:]), len(tokens)
    ([28, 29, 30, -1], -1, [30, -1], 4)
    """

    __slots__ = ("_generated", "_prompt")

    def __init__(self, prompt: BlockTokens) -> None:
        self._prompt = prompt
        self._generated: list[int] = []

    def append(self, token: int) -> None:
        """One more token was generated."""
        self._generated.append(token)

    def __len__(self) -> int:
        return len(self._prompt) + len(self._generated)

    def __iter__(self) -> Iterator[int]:
        return chain(self._prompt, self._generated)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...
    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        prompt_len = len(self._prompt)
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if step == 1 and stop <= prompt_len:
                return self._prompt[start:stop]
            if step == 1 and start >= prompt_len:
                return self._generated[start - prompt_len : stop - prompt_len]
            return [self[i] for i in range(start, stop, step)]
        position = at + len(self) if at < 0 else at
        if position >= prompt_len:
            return self._generated[position - prompt_len]
        return self._prompt[position]
