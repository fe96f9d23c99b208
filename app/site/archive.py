"""Zip archives whose bytes depend on nothing but their content."""

import io
import zipfile
from collections.abc import Mapping

# The earliest moment a zip can name; the real one would make every build differ.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def pack(files: Mapping[str, bytes], *, compress: bool = True) -> bytes:
    """A zip archive of `files` (path -> content), in the order of their paths.

    >>> pack({"b": b"2", "a": b"1"}) == pack({"a": b"1", "b": b"2"})
    True
    """
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, files[name], method, compresslevel=9 if compress else None)
    return target.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of a zip archive, folders left out.

    >>> unpack(pack({"a/b": b"1"}))
    {'a/b': b'1'}
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}
