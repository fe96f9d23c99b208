"""Python modules that the browser fetches only when an import asks for them.

The static site starts from an image of memory in which the modules of a simulation are imported already. This
finder stands last in `sys.meta_path`: it is asked when nothing else knows a module, and knows by name which
archive holds it.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

# Puts the archive at the path it is given before it returns, and returns "", or says why it could not. (Text
# rather than an exception, since it is written in JavaScript.)
Fetch = Callable[[str], str]


def _nowhere(archive: str) -> str:
    return "nobody has said yet from where"


class ModulesOnDemand:
    """A meta path finder over archives, each of them fetched at the first import that it serves.

    Args:
        archives: path where an archive lies once fetched -> full names of the modules in it.
        fetch: see Fetch; can be set later.
    """

    def __init__(self, archives: Mapping[str, Sequence[str]], fetch: Fetch = _nowhere) -> None:
        self._archive_of = {name: archive for archive, names in archives.items() for name in names}
        self._fetched: list[str] = []
        self.fetch = fetch

    def install(self) -> None:
        """Stands last in `sys.meta_path`."""
        sys.meta_path.append(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec if an archive holds it; fetches the archive first if need be.

        Raises:
            ImportError: an archive holds the module and cannot be fetched.
        """
        archive = self._archive_of.get(name)
        if archive is None:
            return None
        if archive not in self._fetched:
            refusal = self.fetch(archive)
            if refusal:
                raise ImportError(f"the archive that holds {name} cannot be fetched: {refusal}", name=name)
            self._fetched.append(archive)
        # A package may be in memory and its submodule here; the parent's own path is left alone.
        folder = "".join(f"/{part}" for part in name.split(".")[:-1])
        return PathFinder.find_spec(name, [archive + folder])
