"""NOTICE.txt: the licence of every part that the site ships.

A licence text is taken from the installed package where it lies in one, so that it follows the package's
version; the others stand in licences/.
"""

import importlib.metadata
from pathlib import Path

from app.site.build_error import BuildError
from app.site.numpy_wheel import numpy_licences
from app.site.pins import NUMPY_WHEEL, PYODIDE_VERSION

LICENCES = Path(__file__).parent / "licences"

_PYODIDE = f"""\
Pyodide {PYODIDE_VERSION} (pyodide.mjs, pyodide.asm.mjs, pyodide.asm.wasm, and the modules pyodide and
_pyodide in the image of memory and the archives): Copyright (c) Pyodide contributors and Mozilla. Subject to
the terms of the Mozilla Public License, version 2.0, a copy of which is at https://mozilla.org/MPL/2.0/. The
three files are unchanged; the modules are compiled from unchanged sources. Their source form is at
https://github.com/pyodide/pyodide/tree/{PYODIDE_VERSION}
"""

_PYTHON_CHANGES = """\
CPython 3.14, inside pyodide.asm.wasm, the image of memory and the archives. Changes made to Python: those
of Pyodide's patches; the standard library is compiled, stripped of docstrings and line numbers, and lies
partly in the image, partly in the archives.

"""


def notice(root: Path, numpy: bytes | None = None) -> str:
    """The whole notice.

    Args:
        root: the project; its own LICENSE stands first, if there is one.
        numpy: its wheel, if it is shipped.

    Raises:
        BuildError: an installed package comes without its licence.
    """
    own = root / "LICENSE"
    parts = [("kvscope", own.read_text(encoding="utf-8"))] if own.is_file() else []
    bokeh = f"BokehJS {importlib.metadata.version('bokeh')}"
    comment = "\nThird-party code inside the bundle carries its notices in comments.\n"
    parts += [
        ("Pyodide", _PYODIDE),
        ("Python", _PYTHON_CHANGES + (LICENCES / "python.txt").read_text(encoding="utf-8")),
        ("Inside Pyodide's binary", (LICENCES / "interpreter_parts.txt").read_text(encoding="utf-8")),
        (bokeh, _installed_licence("bokeh") + comment),
    ]
    if numpy is not None:
        parts.append((f"numpy ({NUMPY_WHEEL}, unchanged)", numpy_licences(numpy)))
    rule = "=" * 110
    head = "This site ships the following software.\n\n"
    return head + "\n".join(f"{rule}\n{title}\n{rule}\n\n{text.strip()}\n" for title, text in parts)


def _installed_licence(package: str) -> str:
    files = importlib.metadata.files(package) or []
    for file in sorted(files, key=str):
        if ".dist-info" in str(file) and file.name.upper().startswith("LICENSE"):
            return Path(str(file.locate())).read_text(encoding="utf-8")
    raise BuildError(f"the installed package {package} holds no LICENSE file; reinstall it from its wheel.")
