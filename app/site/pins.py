"""What the site takes from elsewhere, pinned by version and by sha256.

The interpreter is one release of Pyodide. A file counts as good when its sha256 is the one below, wherever
it was found; so any source is as good as another.
"""

PYODIDE_VERSION = "314.0.3"

# From the release's own package; the same bytes lie in every source named in interpreter_files.py.
INTERPRETER_SHA256 = {
    "pyodide.mjs": "5cfc46f5dcbaf2a16f26e2363f441873eb424762609cc03db00d6a2ace4d00e5",
    "pyodide.asm.mjs": "1a9775427ef6e8abaa7db88ece0515422d1886915ae5c9093776410c865dfd8d",
    "pyodide.asm.wasm": "e7f8fac36f8bf11085309cbc5c829b3ec3057c18bf1d73b05a6741612d63cdbf",
    "python_stdlib.zip": "444c770dfd75a32097fc0a7d5c1413fd3140601f49c3a1f2e9af0376fcd124b4",
}

# The wheel of numpy in the same release; sha256 as its pyodide-lock.json gives it.
NUMPY_WHEEL = "numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl"
NUMPY_SHA256 = "0cad9c1b91f0082e4f959bc0e0bf5835a2efbba6ab3b1e9d1fe6e7e564cca98e"

# What the interpreter's loader must know of its own build; the rest of pyodide-lock.json lists packages,
# and the site loads none.
INTERPRETER_INFO = {
    "arch": "wasm32",
    "platform": "emscripten_5_0_3",
    "version": "314.0.3",
    "python": "3.14.0",
    "abi_version": "2026_0",
}

CDN = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE_VERSION}/full/"

# Registry packages that hold the files: (requirement, folder inside the package).
NPM_PACKAGE = (f"pyodide@{PYODIDE_VERSION}", "package/")
PIP_PACKAGE = ("open-webui==0.12.4", "open_webui/frontend/pyodide/")
