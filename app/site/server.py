"""Serves a built site on loopback, the way a careful static host would.

Hashed files may be kept for ever, everything else is asked for again; the policy goes out as a header too,
so that workers, which a policy inside the page does not reach, run under it as well.
"""

import functools
import http.server
import os
import sys
import webbrowser
from pathlib import Path
from typing import ClassVar

from app.site.assets import FOLDER
from app.site.build_error import BuildError
from app.site.policy import CONTENT_SECURITY_POLICY

HOST = "127.0.0.1"
DEFAULT_PORT = 8000
PORTS_TRIED = 50


class SiteHandler(http.server.SimpleHTTPRequestHandler):
    """Files of one folder."""

    protocol_version = "HTTP/1.1"
    # Stated here since the system's own table may lack or misname them, and the interpreter streams only
    # what is called application/wasm.
    extensions_map: ClassVar[dict[str, str]] = {
        "": "application/octet-stream",
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json",
        ".mjs": "text/javascript; charset=utf-8",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".txt": "text/plain; charset=utf-8",
        ".wasm": "application/wasm",
        ".woff2": "font/woff2",
        ".zip": "application/zip",
    }

    def end_headers(self) -> None:
        hashed = f"/{FOLDER}/" in self.path
        self.send_header("Cache-Control", "public, max-age=31536000, immutable" if hashed else "no-cache")
        self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing for each request: the address printed at the start must stay in sight."""


class SiteServer(http.server.ThreadingHTTPServer):
    """A server of one folder on loopback.

    Args:
        folder: the built site.
        port: exactly this one if given; else the first free one from DEFAULT_PORT on. 0 takes any.

    Raises:
        BuildError: no port is free.
    """

    daemon_threads = True
    # Another server on the port must be noticed, not shared with.
    allow_reuse_address = os.name != "nt"

    def __init__(self, folder: Path, port: int | None = None) -> None:
        handler = functools.partial(SiteHandler, directory=str(folder))
        candidates = range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED) if port is None else (port,)
        for candidate in candidates:
            try:
                super().__init__((HOST, candidate), handler)
                return
            except OSError as reason:
                refusal = reason
        named = f"port {port}" if port is not None else f"any port from {DEFAULT_PORT} to {candidates[-1]}"
        raise BuildError(f"{HOST} refuses {named}: {refusal}.")

    @property
    def address(self) -> str:
        """The address to open."""
        return f"http://{HOST}:{self.server_address[1]}/"


def serve(folder: Path, port: int | None, *, open_browser: bool) -> None:
    """Serves until interrupted."""
    with SiteServer(folder, port) as server:
        print(f"kvscope is at {server.address}  (Ctrl+C stops it)", flush=True)
        has_display = sys.platform in ("darwin", "win32") or any(
            map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))
        )
        if open_browser and has_display:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
