"""The static site as a folder: what goes in, in which order, and how it replaces the one before."""

import hashlib
import importlib
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from app.frontend.cache_folder import cache_folder
from app.site.assets import Assets
from app.site.bokeh_subset import bokeh_subset
from app.site.build_error import BuildError
from app.site.bundle import Bundle
from app.site.interpreter_files import obtain_interpreter_files
from app.site.notice import notice
from app.site.numpy_wheel import LOGICAL_NAME as NUMPY
from app.site.numpy_wheel import obtain_numpy
from app.site.pins import INTERPRETER_INFO
from app.site.policy import check_code, check_page, with_policy
from app.site.python_parts import build_python_parts
from app.site.sizes import BUDGET_BYTES, Size, measure

ON_DEMAND = "python/rest.zip"
RUNTIME_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
BOKEH = "bokeh.js"
SERVICE_WORKER = "sw.js"
TABS = "tabs.json"
BUNDLED = ("boot.js", "worker.js")  # scripts that are shipped with their modules in one file
APART = ("python_worker.js",)  # modules that the page opens before those

Render = Callable[[Mapping[str, str]], str]


@dataclass(frozen=True)
class Site:
    """A built site.

    Attributes:
        folder: where it lies.
        urls: logical name -> final name, relative to index.html.
        sizes: bytes by group; those of `on demand` are not waited for.
    """

    folder: Path
    urls: dict[str, str]
    sizes: list[Size]

    @property
    def until_interactive(self) -> int:
        """Compressed bytes until the page answers with Python."""
        return sum(size.gzip for size in self.sizes if not size.group.startswith("on demand"))


def build_site(
    root: Path,
    out: Path,
    *,
    offline: bool = False,
    numpy: bool = False,
    render: Render | None = None,
    bundles: Sequence[str] = ("bokeh",),
    say: Callable[[str], None] = print,
) -> Site:
    """Builds the site of the project at `root` into the folder `out`.

    Args:
        root: folder that holds pycore/, app/backend/ and static/.
        out: replaced whole, if it is a site built before, empty or missing.
        offline: fetch nothing.
        numpy: ship numpy for the attention lab, if it can be had.
        render: makes index.html from the final names; the project's own page if None.
        bundles: BokehJS bundles the page uses ("bokeh", "bokeh-gl", …).
        say: called with one line of progress.

    Raises:
        BuildError: with one sentence that says what is wrong and where.
    """
    _check_replaceable(out)
    cache = cache_folder(root)
    interpreter = obtain_interpreter_files(cache, offline=offline, say=say)
    parts = build_python_parts(root, interpreter, cache, say)
    third_party = {f"pyodide/{name}": (interpreter / name).read_bytes() for name in RUNTIME_FILES}
    third_party |= bokeh_bundles(bundles)
    tab_files = joined = None
    if render is None:
        page = _import_installed("app.frontend.page")
        render, tab_files = page.render_static, page.tab_files
        joined, style_sheets = page.STYLE, page.STYLE_SHEETS
        third_party[BOKEH] = bokeh_subset(third_party[BOKEH], page.bokeh_models())
    python = {
        "python/image.bin": parts.image,
        "python/interpreter.json": json.dumps(INTERPRETER_INFO, sort_keys=True).encode(),
        "python/core.zip": parts.core,
        ON_DEMAND: parts.rest,
    }
    wheel = obtain_numpy(cache, offline=offline, say=say) if numpy else None
    if wheel is not None:
        python[NUMPY] = wheel
    own = static_files(root / "static")
    if tab_files is not None:
        say("measuring what the tabs show first")
        own |= tab_files(cache / "reports")
    if joined is not None:
        own[joined] = b"\n".join(own.pop(name) for name in style_sheets)
    service_worker = own.pop(SERVICE_WORKER)
    own |= {entry: Bundle(entry, own, APART).content() for entry in BUNDLED if entry in own}

    assets = Assets(own | python | third_party, verbatim=frozenset(third_party))
    urls = assets.build() | {SERVICE_WORKER: SERVICE_WORKER}
    say("rendering the page")
    html = render(urls)
    html = with_policy(with_preloads(html, assets.modules_behind(html)))
    check_page(html)
    shipped = assets.reached_from(html)
    logical = {url: name for name, url in urls.items()}
    check_code({logical[url]: content for url, content in shipped.items()} | {SERVICE_WORKER: service_worker})

    page_bytes = html.encode("utf-8")
    script = with_release(
        service_worker, page_bytes, sorted(shipped), later=[urls[ON_DEMAND]], asked=[urls.get(NUMPY)]
    )
    files = shipped | {
        "index.html": page_bytes,
        SERVICE_WORKER: script,
        "NOTICE.txt": notice(root, wheel).encode("utf-8"),
    }
    _replace(out, files)
    site = Site(out, urls, measure(_groups(shipped, logical, page_bytes)))
    if site.until_interactive > BUDGET_BYTES:
        raise BuildError(
            f"{out} takes {site.until_interactive:,} compressed bytes until interactive, "
            f"at most {BUDGET_BYTES:,} are allowed."
        )
    return site


def static_files(folder: Path) -> dict[str, bytes]:
    """Files below static/ by logical name, page templates left out."""
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".html" and not path.name.startswith(".")
    }
    if SERVICE_WORKER not in found:
        raise BuildError(f"{folder / SERVICE_WORKER} is missing.")
    return found


def bokeh_bundles(names: Sequence[str]) -> dict[str, bytes]:
    """BokehJS bundles of the installed package: "bokeh" becomes the logical file "bokeh.js"."""
    bokeh = _import_installed("bokeh")
    folder = Path(bokeh.__file__).parent / "server" / "static" / "js"
    bundles = {}
    for name in names:
        path = folder / f"{name}.min.js"
        if not path.is_file():
            raise BuildError(
                f"the installed bokeh {bokeh.__version__} holds no {path.name} (looked in {folder})."
            )
        bundles[f"{name}.js"] = path.read_bytes()
    return bundles


def with_preloads(html: str, modules: Sequence[str]) -> str:
    """The page with a hint for each module, so that a chain of imports costs one round trip in all."""
    hints = "".join(f'<link rel="modulepreload" href="{url}">' for url in modules)
    return html.replace("</head>", f"{hints}</head>", 1)


def with_release(
    script: bytes, page: bytes, files: Sequence[str], *, later: Sequence[str], asked: Sequence[str | None]
) -> bytes:
    """The service worker with the lists of this release's files in place of its RELEASE line.

    Args:
        script: the service worker.
        page: index.html.
        files: final names of all that is shipped.
        later: of those, the ones that the page works without: kept when there is time.
        asked: of those, the ones that are kept only once somebody has asked for them.
    """
    digest = hashlib.sha256(page + json.dumps(files).encode() + script)
    release = {
        "version": digest.hexdigest()[:16],
        "page": "index.html",
        "files": [name for name in files if name not in later and name not in asked],
        "later": [name for name in later if name in files],
        "asked": [name for name in asked if name in files],
    }
    line = f"const RELEASE = {json.dumps(release)};"
    text, count = re.subn(r"^const RELEASE = .*$", lambda _: line, script.decode("utf-8"), flags=re.MULTILINE)
    if count != 1:
        raise BuildError(
            f"static/{SERVICE_WORKER}: expected one line that starts with 'const RELEASE =', got {count}."
        )
    return text.encode("utf-8")


def _import_installed(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as reason:
        raise BuildError(f"the page needs the package {reason.name}: pip install -e '.[build]'") from reason


def _groups(
    shipped: Mapping[str, bytes], logical: Mapping[str, str], page: bytes
) -> dict[str, dict[str, bytes]]:
    groups: dict[str, dict[str, bytes]] = {
        "interpreter (Pyodide)": {},
        "memory with Python and the core": {},
        "BokehJS": {},
        "page": {"index.html": page},
        "on demand: the other tabs": {},
        "on demand: rest of the core": {},
        "on demand: rest of the library": {},
        "on demand: numpy": {},
    }
    by_name = {"python/image.bin": 1, TABS: 4, "python/core.zip": 5, ON_DEMAND: 6, NUMPY: 7}
    names = list(groups)
    for url, content in shipped.items():
        name = logical[url]
        prefix = 0 if name.startswith("pyodide/") else 2 if re.fullmatch(r"bokeh(-\w+)?\.js", name) else 3
        groups[names[by_name.get(name, prefix)]][url] = content
    return groups


def _check_replaceable(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise BuildError(f"{out} is a file; the site needs a folder.")
    if out.is_dir() and any(out.iterdir()) and not (out / SERVICE_WORKER).is_file():
        raise BuildError(f"{out} holds other files than a site built before; name an empty or a new folder.")


def _replace(out: Path, files: Mapping[str, bytes]) -> None:
    """Writes beside and renames, so that a failed build leaves the site before it whole."""
    staged = out.with_name(f".{out.name}.new")
    shutil.rmtree(staged, ignore_errors=True)
    for name, content in files.items():
        path = staged / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if out.exists():
        shutil.rmtree(out)
    staged.rename(out)
