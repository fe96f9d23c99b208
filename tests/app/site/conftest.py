"""A small project that can be built in seconds: a core of three lines, and the real workers around it."""

import contextlib
import shutil
import threading
from pathlib import Path

import pytest

from app.frontend.cache_folder import cache_folder
from app.site.server import SiteServer
from app.site.static_site import build_site

ROOT = Path(__file__).resolve().parents[3]

HANDLER = '''
"""Says what it was asked, and what that took."""
import importlib
import sys


class Handler:
    def handle(self, request):
        if request["kind"] == "raise":
            raise ValueError("on purpose")
        if request["kind"] == "import":
            # By name, so that the build does not see that this module is wanted.
            wave = importlib.import_module("wave")
            return {"name": wave.__name__, "file": wave.__file__}
        if request["kind"] == "late":
            return {"value": importlib.import_module("pycore.late").VALUE}
        data = request.get("data")
        return {"kind": request["kind"], "data": None if data is None else [type(data).__name__, len(data)],
                "python": list(sys.version_info[:2])}
'''

# Shows each message of the worker as an element of its own, where a test can wait for it.
BOOT = """
const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => {
  const line = document.createElement("p");
  line.dataset.type = data.type ?? `answer-${data.id}`;
  line.textContent = JSON.stringify(data);
  document.body.append(line);
};
document.getElementById("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const { id, request, bytes } = JSON.parse(document.getElementById("message").value);
  if (bytes) request.data = new Uint8Array(bytes);
  worker.postMessage({ id, request });
});
navigator.serviceWorker.register("sw.js").then(() => navigator.serviceWorker.ready).then(() => {
  document.body.dataset.offline = "ready";
});
"""


def page(urls):
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>small</title>'
        '<link rel="icon" href="data:,">'
        f'<link rel="stylesheet" href="{urls["style.css"]}"></head>'
        f'<body><form id="ask"><input id="message"><button>ask</button></form>'
        f'<script type="module" src="{urls["boot.js"]}"></script></body></html>'
    )


@pytest.fixture
def small_page():
    return page


@pytest.fixture(scope="session")
def small_project(tmp_path_factory):
    """Folder of a project with the real worker scripts and a tiny core."""
    root = tmp_path_factory.mktemp("project")
    for name in (
        "static/worker.js",
        "static/archive.js",
        "static/memory_image.js",
        "static/wheel.js",
        "static/sw.js",
    ):
        _copy(name, root)
    for name in ("app/backend/worker.py", "app/backend/modules_on_demand.py"):
        _copy(name, root)
    _write(root / "app/backend/__init__.py", "")
    _write(root / "app/backend/handle.py", HANDLER)
    _write(root / "pycore/__init__.py", "")
    _write(root / "pycore/late.py", "import csv\n\nVALUE = 7\n")
    _write(root / "static/text/en/page.json", '{"title": "small"}')
    _write(root / "static/boot.js", BOOT)
    _write(root / "static/style.css", "body { margin: 0 }")
    _write(root / "static/unused.js", "export const unused = 1;")
    return root


@pytest.fixture(scope="session")
def shared_cache():
    """The project's own cache, so that the interpreter is fetched and the library compiled once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KVSCOPE_CACHE", str(cache_folder(ROOT)))
        yield


@pytest.fixture(scope="session")
def small_site(small_project, shared_cache, tmp_path_factory):
    """The small project, built."""
    out = tmp_path_factory.mktemp("site") / "dist"
    return build_site(small_project, out, render=page, say=lambda line: None)


@pytest.fixture
def serve():
    """serve(folder) -> address of a server that ends with the test; serve.stop() ends it sooner."""
    with contextlib.ExitStack() as running:

        def start(folder, handler=None):
            server = running.enter_context(SiteServer(folder, 0))
            if handler is not None:
                server.RequestHandlerClass = handler
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
            running.callback(server.shutdown)
            start.stop = running.close
            return server.address

        yield start


def _copy(name, root):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / name, root / name)


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
