"""What the report of an experiment is made from: a change of anything else leaves the kept one as it is."""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from app.backend.texts import LANGUAGES, catalogue
from pycore.experiments import EXPERIMENTS

PROJECT = Path(__file__).parents[2]
CORE = "pycore"
# Through whose hands a report goes; of what these import only the experiment says anything in it.
DOOR = ("app.backend.handle", "app.backend.experiment", "app.backend.texts")


def report_version(name: str, project: Path = PROJECT) -> str:
    """A fingerprint of the experiment's module with all of the core that it imports, and of its texts.

    Args:
        name: of an experiment.
        project: folder that holds pycore/ and app/.
    """
    digest = hashlib.sha256()
    core = imported_by(EXPERIMENTS[name].measure.__module__, project)
    for module in [*DOOR, *sorted(core)]:
        digest.update(module.encode() + hashlib.sha256(_file(module, project).read_bytes()).digest())
    for lang in LANGUAGES:
        own = [each for each in catalogue(lang).items() if each[0].startswith(EXPERIMENTS[name].key(""))]
        digest.update(repr(sorted(own)).encode())
    return digest.hexdigest()[:16]


def imported_by(module: str, project: Path = PROJECT) -> set[str]:
    """Modules of the core that `module` imports, directly or through one another, itself included.

    Imports inside functions count. A package counts where something is taken from it; as the parent of a
    module that is taken it does not, since its __init__ only gathers.
    """
    found: set[str] = set()
    pending = [module]
    while pending:
        each = pending.pop()
        if each not in found:
            found.add(each)
            pending += _imports(each, project)
    return found


@cache
def _imports(module: str, project: Path) -> frozenset[str]:
    tree = ast.parse(_file(module, project).read_bytes())
    return frozenset(name for name in _named(ast.walk(tree)) if _file(name, project).is_file())


def _named(nodes: Iterable[ast.AST]) -> Iterable[str]:
    """What absolute imports of the core name: modules, and what is taken from them, which may be one too."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == CORE)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == CORE:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file(module: str, project: Path) -> Path:
    path = project.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
