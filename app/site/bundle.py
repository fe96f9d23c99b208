"""Modules that belong together as one file, so that opening the page does not cost a request for each.

Each module becomes a block of its own, in which its names stay its own; what it exports goes into an object
that the blocks after it take from. A module that is reached by `import()` alone becomes a function, run when
it is first asked for. The sources stay what they are: `panel serve` and the tests use them one by one.

A module that the page also opens by itself stays apart, since it must not be there twice: it is imported as
before, by the file.

Understood is the plain form that the project's modules are written in: named imports from "./x.js", and
exported functions, classes and constants. Anything else stops the build.
"""

import re
from collections.abc import Collection, Mapping

from app.site.build_error import BuildError

_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "\./(?P<path>[\w.-]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|class|function|async function) (?P<name>\w+))", re.MULTILINE)
_DYNAMIC = re.compile(r'\bimport\("\./(?P<path>[\w.-]+)"\)')
_LEFT_OVER = re.compile(r"^(?:import\b(?!\()|export\b).*", re.MULTILINE)


class Bundle:
    """A script with all that it imports.

    Args:
        entry: logical name of a module, beside which the others lie.
        files: logical name -> content.
        apart: modules that stay files of their own.

    Raises:
        BuildError: a module is missing, imports in a circle, or is written in another form.
    """

    def __init__(self, entry: str, files: Mapping[str, bytes], apart: Collection[str] = ()) -> None:
        self._entry = entry
        self._files = files
        self._apart = apart
        self._imported: dict[str, None] = {}  # of those apart
        self._sources: dict[str, str] = {}  # those before come first
        self._at_once: set[str] = set()
        self._read(entry, ())
        self._follow(entry)

    def content(self) -> bytes:
        """The one file."""
        imported = [f'import * as {_place(name)} from "./{name}";' for name in self._imported]
        parts = [*imported, *(self._module(name) for name in self._sources if name != self._entry)]
        return "\n".join([*parts, self._body(self._entry), ""]).encode("utf-8")

    def _read(self, name: str, path_here: tuple[str, ...]) -> None:
        if name in path_here:
            circle = " -> ".join([*path_here[path_here.index(name) :], name])
            raise BuildError(f"{circle}: modules that import each other in a circle cannot be bundled.")
        if name in self._sources:
            return
        if name in self._apart:
            self._imported[name] = None
            self._at_once.add(name)
            return
        if name not in self._files:
            raise BuildError(f"static/{path_here[-1]}: './{name}' names no file of the site.")
        source = self._files[name].decode("utf-8")
        if found := _LEFT_OVER.search(_EXPORT.sub("", _IMPORT.sub("", source))):
            raise BuildError(f"static/{name}: {found[0]!r} is no import or export that can be bundled.")
        for each in (*_IMPORT.finditer(source), *_DYNAMIC.finditer(source)):
            self._read(each["path"], (*path_here, name))
        self._sources[name] = source

    def _follow(self, name: str) -> None:
        if name not in self._at_once:
            self._at_once.add(name)
            for each in _IMPORT.finditer(self._sources[name]):
                self._follow(each["path"])

    def _module(self, name: str) -> str:
        exports = ", ".join(each["name"] for each in _EXPORT.finditer(self._sources[name]))
        place, body = _place(name), self._body(name)
        if name in self._at_once:
            return f"const {place} = {{}};\n{{\n{body}\nObject.assign({place}, {{ {exports} }});\n}}"
        run = f"async run() {{\n{body}\nreturn {{ {exports} }};\n}}"
        return f"const {place} = {{\nopen() {{\nreturn (this.opened ??= this.run());\n}},\n{run},\n}};"

    def _body(self, name: str) -> str:
        source = self._sources[name]
        taken = [self._taken(found["path"], found["names"]) for found in _IMPORT.finditer(source)]
        text = _EXPORT.sub("", _IMPORT.sub("", source)).strip("\n")
        return "\n".join([*taken, _DYNAMIC.sub(lambda found: self._promised(found["path"]), text)])

    def _taken(self, path: str, names: str) -> str:
        wanted = [name.strip().replace(" as ", ": ") for name in names.split(",") if name.strip()]
        given = _place(path) if path in self._at_once else f"await {_place(path)}.open()"
        return f"const {{ {', '.join(wanted)} }} = {given};"

    def _promised(self, name: str) -> str:
        place = _place(name)
        return f"Promise.resolve({place})" if name in self._at_once else f"{place}.open()"


def _place(name: str) -> str:
    """The name of a module's object; no name of the sources begins so.

    >>> _place("pool_grid.js")
    '$pool_grid'
    """
    return "$" + re.sub(r"\W", "_", name.rpartition(".")[0])
