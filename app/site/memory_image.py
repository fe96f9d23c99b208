"""The interpreter's memory after it has booted and imported the core, as what differs from a fresh one.

A browser that starts from the image neither boots Python nor imports anything. Most of that memory is zero,
and a part is data that the WebAssembly file brings along anyway; the image keeps what differs from those two.
static/memory_image.js is its reader. All numbers are 32 bit, little endian:

    length of the header, end of the file's own data, number of runs | header | (start, length) a run | bytes

The header is the snapshot's own: Pyodide's loader looks in it for its build and for references to JavaScript.
"""

import gzip
import struct

from app.site.build_error import BuildError

# Memory is compared in pieces of so many bytes: smaller ones would take more for their places than they save.
PIECE = 64

_MAGIC_AND_VERSION = b"\0asm\1\0\0\0"
_MEMORY_SECTION = 5
_DATA_SECTION = 11
_MEMORY_PAGE = 65_536
_I32_CONST, _END = 0x41, 0x0B


def memory_image(snapshot: bytes, wasm: bytes) -> bytes:
    """The image of a snapshot, compressed.

    Args:
        snapshot: what Pyodide's makeMemorySnapshot returned; its second number is where the memory begins.
        wasm: the file that runs in this memory.

    Raises:
        BuildError: the file's data cannot be told, or memory had to grow.
    """
    start = int.from_bytes(snapshot[4:8], "little")
    memory = snapshot[start:]
    fresh = bytearray(initial_memory(wasm))
    if start < 8 or start % 4 or len(memory) != len(fresh):
        raise BuildError(
            f"the interpreter's memory takes {len(memory):,} bytes once it holds the core, and begins with "
            f"{len(fresh):,}: the core imports too much at its start."
        )
    end = 0
    for at, data in data_segments(wasm):
        fresh[at : at + len(data)] = data
        end = max(end, at + len(data))
    runs = differing_runs(memory, bytes(fresh))
    places = b"".join(struct.pack("<II", at, length) for at, length in runs)
    content = b"".join(memory[at : at + length] for at, length in runs)
    head = struct.pack("<III", start, end, len(runs)) + snapshot[:start]
    return gzip.compress(head + places + content, compresslevel=9, mtime=0)


def differing_runs(memory: bytes, fresh: bytes) -> list[tuple[int, int]]:
    """(start, length) of the stretches in which the two differ, in whole pieces.

    >>> differing_runs(b"a" * 64 + b"b" * 65, b"a" * 129)
    [(64, 65)]
    """
    runs: list[tuple[int, int]] = []
    for at in range(0, len(memory), PIECE):
        piece = memory[at : at + PIECE]
        if piece == fresh[at : at + PIECE]:
            continue
        if runs and sum(runs[-1]) == at:
            runs[-1] = (runs[-1][0], runs[-1][1] + len(piece))
        else:
            runs.append((at, len(piece)))
    return runs


def initial_memory(wasm: bytes) -> int:
    """Bytes of memory that a WebAssembly file begins with.

    Raises:
        BuildError: no WebAssembly, or it has no memory of its own.
    """
    at = _section(wasm, _MEMORY_SECTION)
    if at is None:
        raise BuildError("pyodide.asm.wasm has no memory of its own; no image can be made of it.")
    return _number(wasm, at + 2)[0] * _MEMORY_PAGE


def data_segments(wasm: bytes) -> list[tuple[int, bytes]]:
    """(address, bytes) of what a WebAssembly file puts into its memory when it is instantiated.

    Raises:
        BuildError: no WebAssembly, or data whose address the file alone does not tell.
    """
    at = _section(wasm, _DATA_SECTION)
    return [] if at is None else _segments(wasm, at)


def _section(wasm: bytes, wanted: int) -> int | None:
    """Where the content of a section begins."""
    if wasm[:8] != _MAGIC_AND_VERSION:
        raise BuildError("pyodide.asm.wasm does not begin as a WebAssembly file does.")
    at = 8
    while at < len(wasm):
        section = wasm[at]
        size, at = _number(wasm, at + 1)
        if section == wanted:
            return at
        at += size
    return None


def _segments(wasm: bytes, at: int) -> list[tuple[int, bytes]]:
    count, at = _number(wasm, at)
    segments = []
    for _ in range(count):
        if wasm[at] != 0 or wasm[at + 1] != _I32_CONST:
            raise BuildError("pyodide.asm.wasm has data without a fixed address; no image can be made of it.")
        address, at = _number(wasm, at + 2, signed=True)
        if wasm[at] != _END:
            raise BuildError("pyodide.asm.wasm has data at a computed address; no image can be made of it.")
        length, at = _number(wasm, at + 1)
        segments.append((address, wasm[at : at + length]))
        at += length
    return segments


def _number(data: bytes, at: int, *, signed: bool = False) -> tuple[int, int]:
    """A LEB128 number and where it ends; a signed one is taken as the 32-bit address that it stands for.

    >>> _number(bytes([0xE5, 0x8E, 0x26]), 0)
    (624485, 3)
    """
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    if signed and byte & 0x40:
        value |= -1 << shift
    return value & 0xFFFFFFFF, at
