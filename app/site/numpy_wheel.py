"""numpy for the attention lab: the wheel of the interpreter's own release, shipped as it is.

No visitor waits for it: the page fetches it when an experiment that computes with numpy is run. A site
without it is whole otherwise, so a wheel that no source can give is told and left out; one with another
sha256 stops the build like any other pinned file.
"""

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from app.site.build_error import BuildError
from app.site.interpreter_files import (
    Source,
    SourceUnavailableError,
    check_pinned,
    fetch_from_first,
    keep,
    members_from_cdn,
    members_from_pip,
)
from app.site.pins import NUMPY_SHA256, NUMPY_WHEEL, PIP_PACKAGE, PYODIDE_VERSION

LOGICAL_NAME = "python/numpy.whl"
PINS = {NUMPY_WHEEL: NUMPY_SHA256}

SOURCES: dict[str, Source] = {
    "the release's public CDN": lambda scratch: members_from_cdn(PINS),
    f"the package {PIP_PACKAGE[0]} (pip download)": lambda scratch: members_from_pip(scratch, PINS),
}


def obtain_numpy(
    cache: Path, *, offline: bool, say: Callable[[str], None], sources: Mapping[str, Source] = SOURCES
) -> bytes | None:
    """The wheel, checked; None if it is neither in the cache nor to be had.

    Args:
        cache: folder for files kept between builds.
        offline: use the cache only.
        say: called with one line of progress, and with the reason if there is no wheel.
        sources: where to look, in order.

    Raises:
        BuildError: a wheel with another hash.
    """
    path = cache / f"pyodide-{PYODIDE_VERSION}" / NUMPY_WHEEL
    if path.is_file():
        data = path.read_bytes()
        check_pinned(NUMPY_WHEEL, data, f"the cache ({path})", PINS)
        return data
    if offline:
        say(f"{NUMPY_WHEEL} is not in the cache: the site is built without numpy")
        return None
    try:
        data = fetch_from_first(sources, PINS, NUMPY_WHEEL, say)[NUMPY_WHEEL]
    except SourceUnavailableError as reason:
        say(f"{NUMPY_WHEEL} could not be fetched ({reason}): the site is built without numpy")
        return None
    keep(path, data)
    return data


def numpy_licences(wheel: bytes) -> str:
    """The licences in the wheel: its own first, then those of what is bundled with it.

    Raises:
        BuildError: it holds none.
    """
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        names = sorted(
            (name for name in archive.namelist() if ".dist-info/licenses/" in name),
            key=lambda n: (n.count("/"), n),
        )
        if not names:
            raise BuildError(f"{NUMPY_WHEEL} holds no licence.")
        texts = [archive.read(name).decode("utf-8").strip() for name in names]
    titles = [name.partition(".dist-info/licenses/")[2] for name in names]
    return "\n\n".join(f"{title}\n\n{text}" for title, text in zip(titles, texts, strict=True))
