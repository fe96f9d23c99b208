"""Where files are kept between builds and runs."""

import os
from pathlib import Path


def cache_folder(root: Path) -> Path:
    """$KVSCOPE_CACHE, else .cache/ of the project at `root`."""
    chosen = os.environ.get("KVSCOPE_CACHE")
    return Path(chosen) if chosen else root / ".cache"
