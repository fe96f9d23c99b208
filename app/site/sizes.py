"""How many bytes a visitor waits for, and the limit they must stay under."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

# Compressed bytes until the page answers with Python; brotli, which most hosts send, stays below gzip.
BUDGET_BYTES = 8_000_000


@dataclass(frozen=True)
class Size:
    """Bytes of one group of files, as they are and as gzip sends them."""

    group: str
    files: int
    raw: int
    gzip: int


def gzip_size(data: bytes) -> int:
    """Bytes that `data` takes when sent with gzip.

    >>> gzip_size(b"a" * 10_000) < 100
    True
    """
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return len(packer.compress(data)) + len(packer.flush())


def measure(groups: Mapping[str, Mapping[str, bytes]]) -> list[Size]:
    """One Size per group (name -> file name -> content)."""
    return [
        Size(group, len(files), sum(map(len, files.values())), sum(map(gzip_size, files.values())))
        for group, files in groups.items()
    ]


def table(sizes: list[Size]) -> str:
    """The sizes as lines of text.

    >>> print(table([Size("page", 2, 2_000_000, 500_000)]))
    page                                     2 files   2.00 MB   0.50 MB gzip
    """
    return "\n".join(
        f"{size.group:<38} {size.files:>3} files {size.raw / 1e6:>6.2f} MB {size.gzip / 1e6:>6.2f} MB gzip"
        for size in sizes
    )
