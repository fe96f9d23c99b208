"""What the project says of itself is true: the lock, the README's commands, the map of the house."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.backend.handle import Handler

ROOT = Path(__file__).resolve().parent.parent
REGISTRY_HOST = re.compile(r"(pypi|pythonhosted|npmjs|debian)\.(org|com|net)")
NOT_LOCKED = {"lock"}  # the tool that writes the lock


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def project() -> dict:
    return tomllib.loads(read("pyproject.toml"))["project"]


def tracked_files() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: there is no list of tracked files")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return [name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def locked() -> Iterator[tuple[Requirement, list[str]]]:
    """Each pinned requirement of the lock with its hashes."""
    for entry in read("requirements.lock").replace("\\\n", " ").splitlines():
        if entry.strip() and not entry.startswith("#"):
            requirement, *hashes = entry.split("--hash=")
            yield Requirement(requirement.strip()), [hash_.strip() for hash_ in hashes]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))


def test_the_lock_pins_each_package_exactly_with_hashes():
    entries = list(locked())
    assert entries
    for requirement, hashes in entries:
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert hashes, f"{requirement} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", hash_) for hash_ in hashes), requirement


def test_the_lock_names_no_host_and_no_path():
    lock = read("requirements.lock")
    assert "//" not in lock
    assert " @ " not in lock
    assert not re.search(r"^\s*-(?!-hash)", lock, re.MULTILINE), "an option such as --index-url"


def test_the_lock_satisfies_every_extra():
    pins: dict[str, list[str]] = {}
    for requirement, _ in locked():
        version = str(requirement.specifier).removeprefix("==")
        pins.setdefault(canonicalize_name(requirement.name), []).append(version)
    for extra, requirements in project()["optional-dependencies"].items():
        for requirement in map(Requirement, requirements):
            name = canonicalize_name(requirement.name)
            if extra in NOT_LOCKED or name == "kvscope":
                continue
            assert name in pins, f"{requirement} of [{extra}] is not in requirements.lock: run make lock"
            assert all(version in requirement.specifier for version in pins[name]), (
                f"{requirement} of [{extra}] is locked to {pins[name]}: run make lock"
            )


def test_the_extra_all_names_every_way_in():
    extras = project()["optional-dependencies"]
    (all_of_them,) = map(Requirement, extras["all"])
    assert all_of_them.extras == set(extras) - {"all"} - NOT_LOCKED


def test_the_core_needs_no_package():
    assert project()["dependencies"] == []


def test_no_tracked_file_names_a_registry_host():
    named = [
        name
        for name in tracked_files()
        if REGISTRY_HOST.search((ROOT / name).read_text(encoding="utf-8", errors="ignore"))
    ]
    assert named == []


@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "docs/guide.md"])
def test_make_commands_in_the_documents_exist(page):
    commands = set(
        re.findall(r"\bmake ([a-z]+)\b", " ".join(re.findall(r"`[^`]+`|```.*?```", read(page), re.DOTALL)))
    )
    assert commands <= make_targets()


def test_readme_gives_the_two_commands():
    first_screen = "\n".join(read("README.md").splitlines()[:40])
    assert "make serve" in first_screen
    assert "make test" in first_screen


@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "docs/architecture.md", "docs/guide.md"])
def test_relative_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page))
    missing = [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert missing == []


def packages(folder: Path) -> Iterator[Path]:
    return (path.parent.relative_to(ROOT) for path in folder.glob("**/__init__.py") if path.parent != folder)


@pytest.mark.parametrize("folder", ["pycore", "app"])
def test_the_architecture_mentions_every_package(folder):
    architecture = read("docs/architecture.md")
    assert [
        str(package) for package in packages(ROOT / folder) if f"{package.name}/" not in architecture
    ] == []


def test_every_file_in_the_architectures_house_exists():
    house = re.search(r"```\n(pycore/.*?)```", read("docs/architecture.md"), re.DOTALL)
    assert house, "docs/architecture.md draws the house in a code block that begins with pycore/"
    folders: list[str] = []
    missing = []
    for line in house[1].splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        folders[depth:] = [name]
        for path in name.split("|"):
            if not (ROOT / "".join(folders[:depth]) / path).exists():
                missing.append("".join(folders[:depth]) + path)
    assert missing == []


BAR = {0: "░", 1: "▂", 2: "▄", 3: "▆", 4: "█"}


def first_picture(mode: str, step: int) -> str:
    """A line of README's first screen: the default pool after a step, one character a block."""
    recording = Handler().handle({"kind": "simulate", "settings": {"mode": mode}})["sources"]["recording"]
    frames, rows = recording["frames"], recording["rows"]
    size = recording["block_size"]
    blocks = ["·"] * recording["num_blocks"]
    for row in range(frames["row_start"][step], frames["row_start"][step + 1]):
        table, held, tokens = rows["table"][row], rows["held"][row], rows["tokens"][row]
        numbers = (
            recording["tables"][table]
            if mode == "paged"
            else range(table // size, table // size + held // size)
        )
        for logical, block in enumerate(numbers[: held // size]):
            blocks[block] = BAR[max(0, min(size, tokens - logical * size))]
    running, waiting = frames["running"][step], frames["waiting"][step]
    return f"{mode:<10}   {''.join(blocks)}   {running:>2} running, {waiting} waiting"


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
@pytest.mark.parametrize("mode", ["paged", "contiguous"])
def test_the_readmes_picture_is_that_of_the_default_run(page, mode):
    step = int(re.search(r"(?:step |第 )(\d+)", read(page))[1])
    assert first_picture(mode, step) in read(page)
