"""The map in pycore's docstring shows the modules that there are."""

import re
from itertools import pairwise
from pathlib import Path

import pycore

FOLDER = Path(pycore.__file__).parent
LINE = re.compile(r"    (\S+) {2,}(\S.*)")


def mapped() -> list[str]:
    """Names in the map, in its order."""
    return [match[1] for line in pycore.__doc__.splitlines() if (match := LINE.fullmatch(line))]


def on_disk() -> set[str]:
    """Dotted names of the modules and packages below pycore."""
    names = set()
    for path in FOLDER.rglob("*.py"):
        parts = path.relative_to(FOLDER).with_suffix("").parts
        names.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names - {""}


def test_every_module_is_on_the_map():
    assert on_disk() - set(mapped()) == set()


def test_the_map_shows_no_module_that_is_gone():
    assert set(mapped()) - on_disk() == set()


def test_every_module_has_one_line():
    assert len(mapped()) == len(set(mapped()))
    indented = [line for line in pycore.__doc__.splitlines() if line.startswith("    ")]
    assert len(indented) == len(mapped())


def test_a_package_comes_right_before_its_modules():
    names = mapped()
    for before, name in pairwise(names):
        package = name.rpartition(".")[0]
        assert not package or before == package or before.startswith(package + "."), name
