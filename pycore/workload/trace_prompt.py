"""What a row of a trace says of its prompt: ids of its blocks (HashIds), or its tokens (TokenIds).

            keys of the first row               tokens a block   last block, if not full
mooncake    hash_ids, timestamp (ms)                       512   has an id
bailian     hash_ids, chat_id, timestamp (s)                16   may have an id
hash_ids    hash_ids, block_size                       as said   has none
token_ids   prompt_token_ids, input_ids, …
"""

import json
from array import array
from collections.abc import Mapping

from pycore.block_tokens import MAX_BLOCK_SIZE, BlockTokens
from pycore.prompt import Prompt
from pycore.workload.trace_problem import shortened

HASH_IDS = "hash_ids"
MAX_HASH_ID = (1 << 64) - 1
MAX_TOKEN_ID = (1 << 31) - 1
LIST_HINT = "[0, 1, 2]"


class SaidError(ValueError):
    """It cannot be read. Its arguments: the column, the value, the problem's code, what was expected."""


class HashIds:
    """Reads `hash_ids`, one id a block: equal ids, equal prompts up to and including that block.

    Ids are numbered anew in order of appearance, so that any whole number from 0 on will do.

    Attributes:
        format: "mooncake", "bailian" or "hash_ids".
        default_unit: of a `timestamp`.
    """

    def __init__(self, row: Mapping[str, object]) -> None:
        """Args:
        row: the first one of the file.
        """
        self.default_unit = "s"
        self._says_size = "block_size" in row
        self._size: int | None = None
        if self._says_size:
            self.format = "hash_ids"
        elif "chat_id" in row:
            self.format, self._size = "bailian", 16
        else:
            self.format, self._size, self.default_unit = "mooncake", 512, "ms"
        self._numbers: dict[int, int] = {}

    def read(self, row: Mapping[str, object], prompt_len: int, number: int) -> Prompt:
        """The prompt of a row.

        Args:
            row: the decoded object.
            prompt_len: tokens of its prompt.
            number: of the row; tells tokens that have no id apart.

        Raises:
            SaidError: see there.
        """
        size = self._stated_size(row) if self._says_size else self._size
        ids = _whole_numbers(row, HASH_IDS, MAX_HASH_ID)
        full, all_blocks = prompt_len // size, -(-prompt_len // size)
        expected = full if self.format == "hash_ids" else all_blocks
        if len(ids) != expected and not (len(ids) == full and self.format == "bailian"):
            why = f"{expected} = {'⌊' if expected == full else '⌈'}{prompt_len} / {size}"
            raise SaidError(HASH_IDS, str(len(ids)), "wrong_ids", why + ("⌋" if expected == full else "⌉"))
        numbers = self._numbers
        numbered = array("q", [numbers.setdefault(each, len(numbers)) for each in ids])
        return Prompt(BlockTokens(numbered, size, prompt_len, number))

    def _stated_size(self, row: Mapping[str, object]) -> int:
        size = row.get("block_size")
        if type(size) is not int or not 1 <= size <= MAX_BLOCK_SIZE:
            raise SaidError("block_size", _words(size), "bad_block_size", f"1..{MAX_BLOCK_SIZE}")
        if self._size is None:
            self._size = size
        if size != self._size:
            raise SaidError("block_size", str(size), "bad_block_size", str(self._size))
        return size


class TokenIds:
    """Reads the token ids of prompts.

    Attributes:
        format: "token_ids".
        default_unit: of an arrival whose name tells none.
    """

    format = "token_ids"
    default_unit = "s"

    def __init__(self, column: str) -> None:
        """Args:
        column: where they are.
        """
        self._column = column

    def read(self, row: Mapping[str, object], prompt_len: int, number: int) -> Prompt:
        """See HashIds.read."""
        ids = _whole_numbers(row, self._column, MAX_TOKEN_ID)
        if len(ids) != prompt_len:
            raise SaidError(self._column, str(len(ids)), "wrong_length", str(prompt_len))
        return Prompt(array("q", ids))


def _whole_numbers(row: Mapping[str, object], column: str, most: int) -> list[int]:
    """The list in a column: integers from 0 to `most`, which JSON's true and 1.0 are not."""
    numbers = row.get(column, row)
    if numbers is row:
        raise SaidError(column, "", "missing_list", LIST_HINT)
    if type(numbers) is not list:
        raise SaidError(column, _words(numbers), "not_a_list", LIST_HINT)
    if numbers and (set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) > most):
        at, odd = next(
            (i, each) for i, each in enumerate(numbers) if type(each) is not int or not 0 <= each <= most
        )
        raise SaidError(f"{column}[{at}]", _words(odd), "bad_id", f"0..{most}")
    return numbers


def _words(value: object) -> str:
    """A decoded value as it may have stood in the file; numbers with a point were kept as their text."""
    return shortened(value if isinstance(value, str) else json.dumps(value))
