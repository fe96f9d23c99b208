"""Which kvscope this is."""

from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def version() -> str:
    """The version of the source checkout this file lies in, else of the installed package."""
    if _PROJECT.is_file():
        import tomllib

        return tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    from importlib.metadata import version as installed

    return installed("kvscope")
