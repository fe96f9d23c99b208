"""The files of the page, for `panel serve`: served by name from here, as the static site serves them."""

from pathlib import Path

_FOLDER = Path(__file__).parent


class Files:
    """Lists what Panel's component handler may hand out, each under its own relative name.

    A module that asks for "./x.js" then finds it beside itself, and no file outside this list is reachable.
    """

    __javascript_modules__ = sorted(path.name for path in _FOLDER.glob("*.js"))
    __css__ = sorted(path.name for path in _FOLDER.glob("*.css"))


def addresses() -> dict[str, str]:
    """File name -> where the server hands it out, relative to its root."""
    scripts = {
        name: f"components/static/Files/__javascript_modules__/{name}"
        for name in Files.__javascript_modules__
    }
    return scripts | {name: f"components/static/Files/__css__/{name}" for name in Files.__css__}
