"""What the browser loads of Python: memory with the core in it, and two archives for what is not in there.

image.bin  the interpreter's memory after it has booted, imported what a simulation takes and made one
core.zip   the other modules of pycore and app/backend, the texts that no run is told from, and what all of
           these take of the standard library
rest.zip   the rest of the standard library

Every visitor waits for the image; an archive is fetched when an import asks for it. All modules are .pyc made
by the very interpreter that loads them, so nothing is compiled in the browser. Compiling takes seconds; what
it gives is kept in the cache under a key made of everything it depends on.
"""

import ast
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.backend.texts import LANGUAGES, OF_COMMANDS, OF_RUNS, merged
from app.site import memory_image
from app.site.archive import pack, unpack
from app.site.build_error import BuildError
from app.site.interpreter import LIBRARY, SCRIPTS, SITE_PACKAGES, BuildInterpreter
from app.site.interpreter_files import keep
from app.site.pins import INTERPRETER_SHA256

# Where static/worker.js puts the archives once they are fetched.
CORE_ARCHIVE = "/lib/core.zip"
REST_ARCHIVE = "/lib/rest_of_library.zip"

# All texts but those of commands, as a module: imported when one is asked for that is not in the image.
TEXTS_MODULE = "app/backend/shipped_texts.py"

# Needed where the modules are first used rather than imported: text decoders that a dropped file may ask for.
ALWAYS_FIRST = ("encodings.ascii", "encodings.latin_1", "encodings.utf_8_sig", "encodings.utf_16")

# Answered once at build time, so that imports inside functions are found and a broken core stops the build.
TRIAL_REQUESTS = (
    {"kind": "simulate", "settings": {}},
    {
        "kind": "replay",
        "name": "trial.csv",
        "data": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,8,4\n",
        "settings": {},
    },
)

# Answered before the image is taken: whatever these import, read and compute for good need not be done again.
IMAGE_REQUESTS = (
    {"kind": "simulate", "settings": {"mode": "paged"}},
    {"kind": "simulate", "settings": {"mode": "contiguous"}},
)

TEXTS = "static/text"

# Not in the interpreter at the start: modules that import it are left out of the trace, not of the archive.
BROUGHT_LATER = "numpy"


@dataclass(frozen=True)
class PythonParts:
    """Contents of the image and the two archives."""

    image: bytes
    core: bytes
    rest: bytes


def core_sources(root: Path) -> dict[str, bytes]:
    """Python files of pycore and app/backend below `root`, by path, and TEXTS_MODULE.

    Raises:
        BuildError: one of the two is missing.
    """
    sources = {}
    for package in ("pycore", "app/backend"):
        found = sorted((root / package).rglob("*.py"))
        if not found:
            raise BuildError(f"{root / package} holds no Python file; the core cannot be shipped.")
        for path in found:
            sources[path.relative_to(root).as_posix()] = path.read_bytes()
    # app itself only as the parent of app.backend: its command line needs what the browser lacks.
    sources["app/__init__.py"] = b""
    texts = {lang: merged(sorted((root / TEXTS / lang).glob("*.json"))) for lang in LANGUAGES}
    shipped = {
        lang: {key: each for key, each in found.items() if not key.startswith(OF_COMMANDS)}
        for lang, found in texts.items()
    }
    sources[TEXTS_MODULE] = f"TEXTS = {shipped!r}\n".encode()
    return sources


def build_python_parts(root: Path, interpreter: Path, cache: Path, say: Callable[[str], None]) -> PythonParts:
    """Compiles, traces and packs.

    Args:
        root: the project.
        interpreter: folder of the pinned files.
        cache: folder for results kept between builds.
        say: called with one line of progress.
    """
    derived = cache / "derived"
    made_by = _made_by()
    library_file = derived / f"library-{_key([made_by])}.zip"
    library = unpack(_kept(library_file, lambda: _compiled_library(interpreter, say)))

    sources = core_sources(root)
    texts = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted((root / TEXTS).rglob("*.json"))
        if path.stem in OF_RUNS
    }
    shipped = [name.encode() + b"\0" + data for name, data in sorted((sources | texts).items())]

    def traced_core() -> bytes:
        say("compiling the core and tracing what it imports")
        core = BuildInterpreter(interpreter).compile(sources, root=SITE_PACKAGES)
        first = _first_modules(sources, core | texts, interpreter, library_file)
        return pack(core | {"first.json": json.dumps(first).encode()})

    key = _key([made_by, *shipped])
    core = unpack(_kept(derived / f"core-{key}.zip", traced_core))
    first = set(json.loads(core.pop("first.json")))
    rest = {name: data for name, data in library.items() if name not in first}
    wanted = core | {name: library[name] for name in first}

    def image_and_core() -> bytes:
        say("taking an image of the interpreter's memory")
        archives = {CORE_ARCHIVE: _module_names(wanted), REST_ARCHIVE: _module_names(rest)}
        snapshot, loaded = BuildInterpreter(interpreter, library_file).take_snapshot(
            core | texts, archives, list(IMAGE_REQUESTS)
        )
        wasm = (interpreter / "pyodide.asm.wasm").read_bytes()
        left = {name: data for name, data in wanted.items() if _module_name(name) not in loaded}
        return pack({"image": memory_image.memory_image(snapshot, wasm), "core": pack(left)}, compress=False)

    parts = unpack(_kept(derived / f"image-{key}.zip", image_and_core))
    names = [name.encode() for name in sorted(rest)]
    return PythonParts(
        image=parts["image"],
        core=parts["core"],
        rest=_kept(derived / f"rest-{_key([made_by, *names])}.zip", lambda: pack(rest)),
    )


def _compiled_library(interpreter: Path, say: Callable[[str], None]) -> bytes:
    say("compiling the standard library with the site's interpreter (once)")
    files = unpack((interpreter / "python_stdlib.zip").read_bytes())
    sources = {name: data for name, data in files.items() if name.endswith(".py")}
    # Docstrings, asserts and line numbers are a third of the library's size, and nothing reads them here.
    return pack(BuildInterpreter(interpreter).compile(sources, root=LIBRARY, lean=True))


def _first_modules(
    sources: Mapping[str, bytes], core: Mapping[str, bytes], interpreter: Path, library: Path
) -> list[str]:
    left_out = needing(BROUGHT_LATER, sources)
    booting = {path: source for path, source in sources.items() if _module_name(path) not in left_out}
    modules = sorted(map(_module_name, booting))
    optional = sorted((_imported_names(booting) - left_out).union(ALWAYS_FIRST))
    traced = BuildInterpreter(interpreter, library).trace_imports(
        core, modules, optional, list(TRIAL_REQUESTS)
    )
    return sorted(set(traced.values()))


def _imported_names(sources: Mapping[str, bytes]) -> set[str]:
    """Modules named by an absolute import anywhere in the sources, inside functions too."""
    names: set[str] = set()
    for path, source in sources.items():
        for node in ast.walk(ast.parse(source, path)):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    return names


def needing(package: str, sources: Mapping[str, bytes]) -> set[str]:
    """Modules whose import imports `package`, directly or through one another, functions left aside.

    >>> sorted(needing("numpy", {"a.py": b"import numpy", "b.py": b"from a import x", "c.py": b"x = 1"}))
    ['a', 'b']
    """
    imports: dict[str, set[str]] = {}
    for path, source in sources.items():
        found = imports.setdefault(_module_name(path), set())
        for node in ast.parse(source, path).body:
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
                found.update(f"{node.module}.{alias.name}" for alias in node.names)
    reached = {package}
    while more := {name for name, found in imports.items() if name not in reached and found & reached}:
        reached |= more
    return reached - {package}


def _module_name(path: str) -> str:
    """The module a file is, by its path below a folder of sys.path.

    >>> _module_name("json/__init__.pyc"), _module_name("json/decoder.py")
    ('json', 'json.decoder')
    """
    return path.rpartition(".py")[0].removesuffix("/__init__").replace("/", ".")


def _module_names(paths: Iterable[str]) -> list[str]:
    return sorted(map(_module_name, paths))


def _made_by() -> bytes:
    """What derived bytes depend on beside their sources: the interpreter, and the code that runs in it."""
    code = sorted(
        [*(path for path in SCRIPTS.iterdir() if path.is_file()), Path(__file__), Path(memory_image.__file__)]
    )
    return json.dumps(INTERPRETER_SHA256).encode() + b"".join(path.read_bytes() for path in code)


def _key(parts: list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]


def _kept(path: Path, make: Callable[[], bytes]) -> bytes:
    """Content of `path`; made and kept there if it is missing."""
    if not path.is_file():
        keep(path, make())
    return path.read_bytes()
