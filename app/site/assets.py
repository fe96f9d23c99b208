"""Files of the site under names that carry a hash of their content.

A file is known by its logical name, the path it has in the sources ("boot.js", "img/mark.svg",
"pyodide/pyodide.mjs"); its final name is where it lies in the output ("assets/boot.1f2e3d4c5b.js").
References between files are rewritten to final names, so a file is named after those it refers to:
JavaScript's `from "./x.js"`, `import("./x.js")` and `new URL("./x", import.meta.url)`, and CSS's `url(./x)`.
"""

import hashlib
import posixpath
import re
from collections.abc import Mapping

from app.site.build_error import BuildError

FOLDER = "assets"

# Pyodide names its own files, so those keep their names inside a folder that carries the hash.
KEEPS_NAMES = "pyodide/"

_JS_REFERENCE = re.compile(
    r"""(?P<lead>\bfrom\s*|\bimport\s*\(?\s*|\bnew\s+URL\(\s*)(?P<quote>["'])(?P<path>\.{1,2}/[^"'\n]+)(?P=quote)"""
)
_CSS_REFERENCE = re.compile(r"""(?P<lead>\burl\(\s*)(?P<quote>["']?)(?P<path>\.{1,2}/[^"')\s]+)(?P=quote)""")
# A path put together at run time cannot be rewritten, nor can a package's bare name be resolved.
_JS_UNRESOLVABLE = re.compile(
    r"""\bnew\s+URL\(\s*(?:`|[^"'`)\n]+,\s*import\.meta\.url)|^\s*(?:import|export)\b[^"'\n]*\bfrom\s*["'](?!\.{1,2}/)""",
    re.MULTILINE,
)


class Assets:
    """Turns logical files into final ones.

    Args:
        files: logical name -> content.
        verbatim: logical names of files that are shipped byte for byte, whatever they seem to refer to.
    """

    def __init__(self, files: Mapping[str, bytes], verbatim: frozenset[str] = frozenset()) -> None:
        self._files = dict(files)
        self._verbatim = verbatim
        self._pinned_folder = self._folder_of_pinned_names()
        self._urls: dict[str, str] = {}
        self._output: dict[str, bytes] = {}
        self._references: dict[str, list[str]] = {}
        self._imports: dict[str, list[str]] = {}

    def build(self) -> dict[str, str]:
        """Names every file; returns logical name -> final name.

        Raises:
            BuildError: a reference names no file or cannot be resolved, or files refer in a circle.
        """
        for name in sorted(self._files):
            self._place(name, ())
        return dict(self._urls)

    def content(self, logical: str) -> bytes:
        """Final content of a file."""
        return self._output[self._urls[logical]]

    def reached_from(self, html: str) -> dict[str, bytes]:
        """Final name -> content of the files that `html` names, and those that these refer to."""
        pending = [name for name, url in self._urls.items() if url in html]
        reached: dict[str, bytes] = {}
        while pending:
            name = pending.pop()
            url = self._urls[name]
            if url not in reached:
                reached[url] = self._output[url]
                pending += self._references[name]
                if name.startswith(KEEPS_NAMES):
                    # Pyodide's loader asks for its neighbours by names it makes up itself.
                    pending += [other for other in self._urls if other.startswith(KEEPS_NAMES)]
        return dict(sorted(reached.items()))

    def modules_behind(self, html: str) -> list[str]:
        """Final names of the modules that the scripts in `html` import, directly or not, nearest first; a
        worker's modules are no part of it."""
        scripts = [name for name in self._urls if name.endswith(".js")]
        entries = [name for name in scripts if f'src="{self._urls[name]}"' in html]
        found: dict[str, None] = {}
        pending = [target for name in sorted(entries) for target in self._imports[name]]
        while pending:
            name = pending.pop(0)
            if name not in found:
                found[name] = None
                pending += self._imports[name]
        return [self._urls[name] for name in found if name not in entries]

    def _place(self, name: str, path_here: tuple[str, ...]) -> str:
        if name in self._urls:
            return self._urls[name]
        if name in path_here:
            circle = " -> ".join([*path_here[path_here.index(name) :], name])
            raise BuildError(
                f"{circle}: files that refer to each other in a circle cannot carry each other's hash."
            )
        self._references[name] = []
        self._imports[name] = []
        content = self._files[name]
        suffix = posixpath.splitext(name)[1]
        if name not in self._verbatim and suffix in (".js", ".mjs", ".css"):
            content = self._rewritten(name, content.decode("utf-8"), suffix, (*path_here, name)).encode(
                "utf-8"
            )
        url = self._final_name(name, content)
        self._urls[name] = url
        self._output[url] = content
        return url

    def _rewritten(self, name: str, text: str, suffix: str, path_here: tuple[str, ...]) -> str:
        is_css = suffix == ".css"
        if not is_css and (found := _JS_UNRESOLVABLE.search(text)):
            line = text.count("\n", 0, found.end()) + 1
            raise BuildError(f"static/{name} line {line}: expected a literal path that starts with ./ or ../")

        def replaced(found: re.Match[str]) -> str:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), found["path"]))
            if target not in self._files:
                line = text.count("\n", 0, found.start("path")) + 1
                raise BuildError(f"static/{name} line {line}: {found['path']!r} names no file of the site.")
            self._references[name].append(target)
            if found["lead"].startswith(("from", "import")):
                self._imports[name].append(target)
            final = self._place(target, path_here)
            # Of a final name only the folder is needed here, and that does not depend on the content.
            here = posixpath.dirname(self._final_name(name, b""))
            path = posixpath.relpath(final, here)
            path = path if path.startswith("../") else f"./{path}"
            return f"{found['lead']}{found['quote']}{path}{found['quote']}"

        return (_CSS_REFERENCE if is_css else _JS_REFERENCE).sub(replaced, text)

    def _final_name(self, name: str, content: bytes) -> str:
        if name.startswith(KEEPS_NAMES):
            return f"{FOLDER}/{self._pinned_folder}/{name.removeprefix(KEEPS_NAMES)}"
        stem, suffix = posixpath.splitext(name)
        return f"{FOLDER}/{stem}.{hashlib.sha256(content).hexdigest()[:10]}{suffix}"

    def _folder_of_pinned_names(self) -> str:
        digest = hashlib.sha256()
        for name, content in sorted(self._files.items()):
            if name.startswith(KEEPS_NAMES):
                digest.update(name.encode() + hashlib.sha256(content).digest())
        return f"pyodide.{digest.hexdigest()[:10]}"
