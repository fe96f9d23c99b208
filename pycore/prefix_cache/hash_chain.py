"""Prefix reuse by chained block hashes, as vLLM V1 does it.

prompt   [0 1 2 3] [4 5 6 7] [8 9 ·  ·]        only full blocks have a key
keys        k0   ◀─   k1                       k1 = H(k0, 4 5 6 7, extra keys)
blocks      12        7, 30                    equal blocks are not merged: a key may name several
"""

from collections.abc import Sequence as Series

from pycore.prefix_cache.block_hash import PLAIN_KEYS, BlockHash, Extra
from pycore.prompt import Prompt


class HashChain:
    """Which physical blocks hold which piece of which prompt.

    Knows keys and block numbers; who holds a block, and which one goes first when memory is short, is the
    pool's business. A block keeps its key from when it is given one until the pool hands it out anew.

    Attributes:
        block_size: tokens a block.
        keys: key by block; to be read only.

    >>> from pycore.prefix_cache.block_hash import blake2b_key
    >>> chain, prompt = HashChain(2, blake2b_key), Prompt((5, 6, 7, 8, 9))
    >>> keys = []
    >>> chain.extend(keys, prompt.tokens, prompt)
    >>> len(keys)  # the fifth token fills no block
    2
    >>> chain.store(3, keys[0]), chain.store(1, keys[1]), chain.look_up(keys)
    (None, None, [3, 1])
    >>> chain.forget(3), chain.look_up(keys)  # block 1 is still cached, and out of reach
    (True, [])
    """

    def __init__(self, block_size: int, block_hash: BlockHash, *, newest_only: bool = False) -> None:
        """Nothing is cached.

        Args:
            block_size: tokens a block.
            block_hash: makes the keys; one of block_hash.BLOCK_HASHES.
            newest_only: of blocks with equal keys only the newest is ever found (nano-vllm); else the oldest,
                and the next one when that is gone (vLLM V1).

        Raises:
            ValueError: a block size below 1.
        """
        if block_size < 1:
            raise ValueError(f"a block of a hash chain has {block_size} tokens, expected at least 1")
        self.block_size = block_size
        self._hash = block_hash
        self._plain_keys = PLAIN_KEYS.get(block_hash)
        self._newest_only = newest_only
        self.keys: dict[int, bytes] = {}
        self._blocks: dict[bytes, dict[int, None]] = {}  # key → blocks that are found by it, oldest first

    def __contains__(self, block: int) -> bool:
        """Whether `block` has a key."""
        return block in self.keys

    def __len__(self) -> int:
        return len(self.keys)

    def blocks(self) -> list[int]:
        """All blocks with a key, by number."""
        return sorted(self.keys)

    def extend(self, keys: list[bytes], tokens: Series[int], prompt: Prompt) -> None:
        """Appends the keys of the full blocks of `tokens` that `keys` does not have yet.

        Args:
            keys: of the first blocks of the same tokens.
            tokens: the prompt's, and those generated so far.
            prompt: what else tells it apart.
        """
        size = self.block_size
        first = len(keys) * size
        if first + size > len(tokens):
            return
        parent = keys[-1] if keys else None
        plain = prompt.is_plain
        if plain and self._plain_keys is not None:
            # Until something is generated the prompt's own tokens are the same, and may be packed already.
            same = prompt.tokens if len(tokens) == len(prompt.tokens) else tokens
            keys += self._plain_keys(parent, same[first:], size)
            return
        for start in range(first, len(tokens) - size + 1, size):
            extra = None if plain else _extra(prompt, start, size)
            parent = self._hash(parent, tokens[start : start + size], extra)
            keys.append(parent)

    def look_up(self, keys: Series[bytes]) -> list[int]:
        """The blocks of the longest cached prefix; stops at the first key that is missing. Pure."""
        found = []
        blocks_of = self._blocks
        for key in keys:
            if key not in blocks_of:
                break
            for block in blocks_of[key]:  # the first of them; quicker than next(iter(...))
                found.append(block)
                break
        return found

    def blocks_of(self, key: bytes) -> tuple[int, ...]:
        """The blocks that are found by `key`, in the order in which they are."""
        return tuple(self._blocks.get(key, ()))

    def store(self, block: int, key: bytes) -> None:
        """Notes that `block` holds what `key` stands for.

        Raises:
            ValueError: it has a key already.
        """
        if block in self.keys:
            raise ValueError(f"block {block} is cached already")
        self.keys[block] = key
        if self._newest_only:
            self._blocks[key] = {block: None}
        else:
            self._blocks.setdefault(key, {})[block] = None

    def forget(self, block: int) -> bool:
        """Takes the key from `block`, which is to hold something else; returns whether it had one."""
        key = self.keys.pop(block, None)
        if key is None:
            return False
        blocks = self._blocks.get(key)
        if blocks is not None and block in blocks:
            del blocks[block]
            if not blocks:
                del self._blocks[key]
        return True

    def clear(self) -> None:
        """Forgets all."""
        self.keys.clear()
        self._blocks.clear()

    def check(self) -> None:
        """Raises AssertionError unless keys and blocks name each other."""
        named = [block for blocks in self._blocks.values() for block in blocks]
        assert len(named) == len(set(named)), f"a block is found by two keys: {self._blocks}"
        for key, blocks in self._blocks.items():
            assert blocks, f"key {key.hex()} is kept and names no block"
            for block in blocks:
                assert self.keys.get(block) == key, f"block {block} is found by a key that is not its own"
        if not self._newest_only:
            assert sorted(named) == self.blocks(), f"{self.blocks()} have keys, {sorted(named)} are found"


def _extra(prompt: Prompt, start: int, size: int) -> Extra:
    """What tells the block at `start` apart from one of equal tokens and parent; tagged as in vLLM.

    The salt stands in the first block only: by the parent's key it is in all others.
    """
    extra: list[str | tuple[str | int, ...]] = []
    if prompt.adapter is not None:
        extra.append(("lora", prompt.adapter))
    for media in prompt.media:
        if media.first < start + size and start < media.first + media.num_tokens:
            extra.append(("mm", media.content, media.first - start))
    if prompt.salt is not None and start == 0:
        extra.append(("cache_salt", prompt.salt))
    return tuple(extra)
