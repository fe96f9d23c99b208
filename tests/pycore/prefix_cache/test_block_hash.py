"""The key of a block: what it hangs on, and how it is written down."""

import pytest

from pycore.prefix_cache.block_hash import BLOCK_HASHES, cbor


@pytest.mark.parametrize(
    ("value", "written"),
    [  # the examples of RFC 8949, appendix A, in canonical form
        (0, "00"),
        (23, "17"),
        (24, "1818"),
        (255, "18ff"),
        (256, "190100"),
        (1_000_000, "1a000f4240"),
        (1_000_000_000_000, "1b000000e8d4a51000"),
        (18_446_744_073_709_551_615, "1bffffffffffffffff"),
        (-1, "20"),
        (-100, "3863"),
        (-1000, "3903e7"),
        (None, "f6"),
        (b"\x01\x02\x03\x04", "4401020304"),
        ("", "60"),
        ("IETF", "6449455446"),
        ("水", "63e6b0b4"),
        ((1, (2, 3), (4, 5)), "8301820203820405"),
        (tuple(range(1, 26)), "98190102030405060708090a0b0c0d0e0f101112131415161718181819"),
    ],
)
def test_cbor_is_written_as_the_standard_shows(value, written):
    assert cbor(value).hex() == written


@pytest.mark.parametrize("value", [1.5, [1], {"a": 1}])
def test_what_cannot_be_written_is_named(value):
    with pytest.raises(TypeError, match="cannot write"):
        cbor(value)


def test_a_number_of_more_than_64_bits_is_named():
    with pytest.raises(ValueError, match="more than 64 bits"):
        cbor(1 << 64)


@pytest.mark.parametrize("name", BLOCK_HASHES)
def test_a_key_hangs_on_parent_tokens_and_extra_keys(name):
    key = BLOCK_HASHES[name]
    first = key(None, (1, 2), None)
    different = {
        first,
        key(None, (2, 1), None),
        key(None, (1, 2), (("salt", "a"),)),
        key(None, (1, 2), (("adapter", "a"),)),
        key(first, (1, 2), None),
        key(key(None, (3, 4), None), (1, 2), None),
    }
    assert len(different) == 6
    assert key(None, [1, 2], None) == first


@pytest.mark.parametrize("name", BLOCK_HASHES)
def test_a_key_is_the_same_on_every_platform(name):
    written = {"blake2b": BLAKE2B, "sha256_cbor": SHA256}[name]
    assert BLOCK_HASHES[name](None, (0, -1, 1 << 40), (("salt", "水"),)).hex() == written


BLAKE2B = "081e68de4f228c91f226e895e134c6e8"
SHA256 = "18728af46a5e9e7f1267f01371ef9ddaf80cf367f1cd5829eadab20532074237"
