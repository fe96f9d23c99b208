"""The part of Python's standard library that the browser fetches only when an import asks for it.

The static site boots from an archive with those modules alone that the core imports. This finder stands last
in `sys.meta_path`: it is asked when nothing else knows a module, and knows the others by name.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class RestOfLibrary:
    """A meta path finder over one archive that is fetched at the first import it serves.

    Args:
        names: full names of the modules in the archive.
        archive: path where the archive lies once fetched.
        fetch: puts the archive at that path before it returns, and returns "", or says why it could not.
            (Text rather than an exception, since it is written in JavaScript.)
    """

    def __init__(self, names: Sequence[str], archive: str, fetch: Callable[[str], str]) -> None:
        self._names = frozenset(names)
        self._archive = archive
        self._fetch = fetch
        self.fetched = False

    def install(self) -> None:
        """Stands last in `sys.meta_path`."""
        sys.meta_path.append(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec if it is one of the rest; fetches the archive first if need be.

        Raises:
            ImportError: the module is one of the rest and the archive cannot be fetched.
        """
        if name not in self._names:
            return None
        if not self.fetched:
            refusal = self._fetch(self._archive)
            if refusal:
                raise ImportError(f"the archive that holds {name} cannot be fetched: {refusal}", name=name)
            self.fetched = True
        # A package may lie in the first archive and its submodule here; the parent's own path is left alone.
        folder = "".join(f"/{part}" for part in name.split(".")[:-1])
        return PathFinder.find_spec(name, [self._archive + folder])
