"""The image of memory: what is kept of a snapshot, and what is refused."""

import gzip
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.site.build_error import BuildError
from app.site.memory_image import data_segments, differing_runs, memory_image

PAGE = 65_536


def number(value):
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        # A further byte where this one's sign bit would be read as a minus.
        if not value and not low & 0x40:
            return bytes([*out, low])
        out.append(low | 0x80)


def section(kind, content):
    return bytes([kind]) + number(len(content)) + content


def wasm(segments, pages=1):
    data = b"".join(b"\0\x41" + number(at) + b"\x0b" + number(len(each)) + each for at, each in segments)
    memory = section(5, number(1) + b"\0" + number(pages))
    return b"\0asm\1\0\0\0" + memory + section(11, number(len(segments)) + data)


def snapshot(memory):
    return struct.pack("<II", 7, 12) + b"head" + memory


def restored(image, fresh):
    """What static/memory_image.js makes of it."""
    plain = gzip.decompress(image)
    length, end, count = struct.unpack_from("<III", plain)
    places = struct.unpack_from(f"<{2 * count}I", plain, 12 + length)
    memory = bytearray(fresh[:end] + bytes(len(fresh) - end))
    at = 12 + length + 8 * count
    for start, size in zip(places[::2], places[1::2], strict=True):
        memory[start : start + size] = plain[at : at + size]
        at += size
    assert at == len(plain)
    return plain[12 : 12 + length], bytes(memory)


@given(st.dictionaries(st.integers(0, PAGE - 1), st.integers(0, 255), max_size=40))
def test_a_fresh_memory_and_the_image_make_the_memory_of_the_snapshot(changes):
    segments = [(0, b"own data"), (300, bytes(range(200)))]
    fresh = bytearray(PAGE)
    for at, data in segments:
        fresh[at : at + len(data)] = data
    memory = bytearray(fresh)
    for at, value in changes.items():
        memory[at] = value
    taken = snapshot(bytes(memory))
    assert restored(memory_image(taken, wasm(segments)), bytes(fresh)) == (taken[:12], bytes(memory))


def test_runs_are_whole_pieces_that_do_not_touch():
    memory = bytearray(64 * 10)
    for at in (0, 64 * 3 + 5, 64 * 4, 64 * 9 + 63):
        memory[at] = 1
    assert differing_runs(bytes(memory), bytes(len(memory))) == [(0, 64), (64 * 3, 128), (64 * 9, 64)]


def test_the_data_of_a_file_is_told_with_its_addresses():
    assert data_segments(wasm([(64, b"a"), (70_000, b"bc")])) == [(64, b"a"), (70_000, b"bc")]


@pytest.mark.parametrize("size", [PAGE // 2, 2 * PAGE])
def test_a_memory_of_another_size_than_it_begins_with_is_refused(size):
    with pytest.raises(BuildError, match=r"takes [\d,]+ bytes once it holds the core, .* with 65,536"):
        memory_image(snapshot(bytes(size)), wasm([]))


def test_a_file_that_is_no_webassembly_is_refused():
    with pytest.raises(BuildError, match="does not begin as a WebAssembly file does"):
        memory_image(snapshot(bytes(PAGE)), b"GIF89a, and more")


def test_data_whose_address_is_computed_is_refused():
    imported = b"\0asm\1\0\0\0" + section(11, number(1) + b"\0\x23" + number(0) + b"\x0b" + number(0))
    with pytest.raises(BuildError, match="data without a fixed address"):
        data_segments(imported)
