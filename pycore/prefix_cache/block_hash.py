"""The key of a block: a hash of its tokens and of all that stands before them.

    key of block j = H(key of block j − 1, tokens of block j, extra keys of block j)

Because the parent's key is in it, equal keys mean equal prompts up to and including the block, and a look-up
of one key answers for the whole prefix. Two hashes are offered; a third one is one function and one line.
"""

from array import array
from collections.abc import Callable, Sequence
from hashlib import blake2b, sha256
from sys import byteorder

Extra = tuple[str | int | tuple[str | int, ...], ...]  # what tells equal tokens apart: salt, adapter, media
BlockHash = Callable[[bytes | None, Sequence[int], Extra | None], bytes]


def cbor(value: object) -> bytes:
    """Canonical CBOR (RFC 8949, section 4.2) of None, 64-bit integers, bytes, text and tuples of these.

    >>> cbor((None, -1, 500, "a", b"\\x00")).hex()
    '85f6201901f461614100'
    """
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        encoded = value.encode()
        return _head(3, len(encoded)) + encoded
    if isinstance(value, tuple):
        return _head(4, len(value)) + b"".join(map(cbor, value))
    raise TypeError(f"cannot write {value!r} as CBOR")


def _head(major: int, number: int) -> bytes:
    """The shortest initial bytes of an item: its major type, and a number in as few bytes as it needs."""
    if number < 24:
        return bytes([major << 5 | number])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << 8 * size:
            return bytes([major << 5 | code]) + number.to_bytes(size, "big")
    raise ValueError(f"{number} needs more than 64 bits")


_NO_PARENT = bytes(16)
_EMPTY = blake2b(digest_size=16)  # nothing hashed yet; a copy of it is had sooner than a new one


def blake2b_key(parent: bytes | None, tokens: Sequence[int], extra: Extra | None) -> bytes:
    """BLAKE2b of 16 bytes: the parent's key, the tokens as 64-bit integers, the extra keys as CBOR."""
    integers = array("q", tokens)
    if byteorder == "big":
        integers.byteswap()
    content = (parent or _NO_PARENT) + integers.tobytes()
    return blake2b(content + cbor(extra) if extra else content, digest_size=16).digest()


def blake2b_plain_keys(parent: bytes | None, tokens: Sequence[int], size: int) -> list[bytes]:
    """`blake2b_key` of one block of `size` tokens after the other, without extra keys: packed in one go.

    >>> first = blake2b_key(None, range(4), None)
    >>> blake2b_plain_keys(None, range(9), 4) == [first, blake2b_key(first, range(4, 8), None)]
    True
    """
    integers = tokens if type(tokens) is array and tokens.typecode == "q" else array("q", tokens)
    if byteorder == "big":
        integers = integers[:]
        integers.byteswap()
    content = integers.tobytes()
    key, keys, step = parent or _NO_PARENT, [], 8 * size
    new = _EMPTY.copy
    for end in range(step, len(content) + 1, step):
        state = new()
        state.update(key + content[end - step : end])
        key = state.digest()
        keys.append(key)
    return keys


# The parent of a first block in vLLM V1: the hash of its seed, which is random unless one is given.
_VLLM_NO_PARENT = sha256(cbor("vllm-none-hash")).digest()


def sha256_cbor_key(parent: bytes | None, tokens: Sequence[int], extra: Extra | None) -> bytes:
    """The `sha256_cbor` of vLLM V1: SHA-256 of canonical CBOR of (parent, tokens, extra keys or None)."""
    return sha256(cbor((parent or _VLLM_NO_PARENT, tuple(tokens), extra or None))).digest()


BLOCK_HASHES: dict[str, BlockHash] = {"blake2b": blake2b_key, "sha256_cbor": sha256_cbor_key}
# Those that can make the keys of many plain blocks faster than one by one: parent, tokens, block size → keys.
PLAIN_KEYS: dict[BlockHash, Callable[[bytes | None, Sequence[int], int], list[bytes]]] = {
    blake2b_key: blake2b_plain_keys
}
