"""Who may import whom: the contracts of pyproject.toml, that they bite, and that no module is dead."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

from app.cli.kvscope import _COMMANDS as COMMANDS

ROOT = Path(__file__).resolve().parent.parent
STANDARD_LIBRARY_ONLY = ("pycore", "app/backend")
NUMPY_ALLOWED = ROOT / "pycore" / "attention"


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Holds the contracts against the source in `folder`."""
    script = "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])"
    return subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)


def test_imports_point_one_way():
    found = lint_imports(ROOT)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize(
    ("path", "line", "contract"),
    [
        ("pycore/memory/paged.py", "import pycore.engine", "The core, from"),
        ("pycore/request.py", "import pycore.events", "The core, from"),
        ("pycore/memory/waste.py", "import pycore.memory.paged", "Memory, from"),
        ("pycore/rng.py", "import numpy", "The core knows"),
        ("pycore/config.py", "import app.backend.texts", "The core knows"),
        ("pycore/odd.py", "", "The core, from"),
        ("app/backend/texts.py", "import panel", "The backend runs"),
        ("app/backend/texts.py", "import app.frontend", "The ways in"),
    ],
)
def test_a_breach_is_found(path, line, contract, tmp_path):
    for package in ("pycore", "app"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / path).open("a", encoding="utf-8") as module:
        module.write(f"\n{line}\n")
    found = lint_imports(tmp_path)
    assert found.returncode == 1, found.stderr
    assert re.search(f"{contract}.* BROKEN", found.stdout), found.stdout


def imported(source: Path) -> set[str]:
    """Top-level names that a file imports anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}:{node.lineno} imports relatively"
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("folder", STANDARD_LIBRARY_ONLY)
def test_only_the_standard_library_is_needed(folder):
    allowed = sys.stdlib_module_names | {"pycore"} | ({"app"} if folder.startswith("app") else set())
    foreign = {
        str(path.relative_to(ROOT)): sorted(imported(path) - allowed)
        for path in (ROOT / folder).rglob("*.py")
        if imported(path) - allowed and not path.is_relative_to(NUMPY_ALLOWED)
    }
    assert foreign == {}


def test_randomness_comes_from_rng_alone():
    users = [path.name for path in (ROOT / "pycore").rglob("*.py") if "random" in imported(path)]
    assert users == ["rng.py"]


def entry_points(graph: grimp.ImportGraph) -> set[str]:
    """Where a run can begin: the commands, the build, the page under a server, the page's worker."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    begin = {target.partition(":")[0] for target in scripts.values()}
    begin |= {"app.cli.__main__", "app.main", "app.backend.worker"}
    begin |= {f"app.cli.{command}" for command in COMMANDS}  # imported by name, when they are called
    for node in ast.walk(ast.parse((ROOT / "build.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            begin.add(node.module)
    return begin & graph.modules


def test_every_module_is_reached_from_where_a_run_begins():
    graph = grimp.build_graph("pycore", "app", cache_dir=None)
    reached: set[str] = set()
    todo = sorted(entry_points(graph))
    while todo:
        module = todo.pop()
        if module in reached:
            continue
        reached.add(module)
        todo += graph.find_modules_directly_imported_by(module)
        if "." in module:
            todo.append(module.rpartition(".")[0])  # importing a module runs its packages
    assert sorted(graph.modules - reached) == []
