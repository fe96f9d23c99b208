"""Builds the static site into dist/, and serves it on loopback.

python build.py [--out dist] [--offline] [--no-numpy]  build
python build.py --serve [--port 8000]          build, serve, open the browser
"""

import argparse
import sys
import time
from pathlib import Path

from app.site.build_error import BuildError
from app.site.server import serve
from app.site.sizes import table
from app.site.static_site import Site, build_site

ROOT = Path(__file__).resolve().parent


def build(out: Path | str = ROOT / "dist", *, offline: bool = False, numpy: bool = True) -> Site:
    """Builds the project's site into `out` and prints its sizes.

    Raises:
        BuildError: with one sentence that says what is wrong and where.
    """
    start = time.monotonic()
    site = build_site(ROOT, Path(out), offline=offline, numpy=numpy, say=lambda line: print(line, flush=True))
    print(table(site.sizes))
    print(f"{site.until_interactive / 1e6:.2f} MB compressed until interactive")
    print(f"built {site.folder} in {time.monotonic() - start:.1f} s", flush=True)
    return site


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 built, 1 the build failed, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="build.py", description="Build the static site, and serve it.")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "dist", help="folder to build into (default: dist)"
    )
    parser.add_argument("--offline", action="store_true", help="fetch nothing; use the cache alone")
    parser.add_argument(
        "--no-numpy",
        action="store_true",
        help="leave numpy out; the attention lab then shows its first result only",
    )
    parser.add_argument("--serve", action="store_true", help="serve the site on 127.0.0.1 once it is built")
    parser.add_argument(
        "--port", type=int, help="port to serve on (default: the first free one from 8000 on)"
    )
    parser.add_argument("--no-open", action="store_true", help="do not open the browser")
    chosen = parser.parse_args(arguments)
    try:
        build(chosen.out, offline=chosen.offline, numpy=not chosen.no_numpy)
        if chosen.serve:
            serve(chosen.out, chosen.port, open_browser=not chosen.no_open)
    except (BuildError, OSError) as reason:
        print(f"build.py: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
