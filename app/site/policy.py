"""What the page may do: its content-security policy, and the check that nothing comes from outside.

The browser enforces the policy on every visitor's machine; the check enforces it on the builder's, where a
violation is still cheap.
"""

import re
from collections.abc import Mapping
from html.parser import HTMLParser

from app.site.build_error import BuildError

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'none'"
)
META = f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">'

# Addresses that occur in shipped code and are never fetched: logical name -> {start of address: reason}.
HARMLESS: dict[str, dict[str, str]] = {
    "*": {
        "http://www.w3.org/": "names of XML namespaces",
    },
    "bokeh.js": {
        "http://": "default of the OpenURL tool, a link the reader follows; the page has none",
        "http://jquery.org/license": "licence comment",
        "http://www.foretagsplatsen.se": "licence comment",
        "https://bokeh.org/": "link behind the toolbar's logo",
        "https://docs.bokeh.org/": "link behind the help tool",
        "https://tabler.io": "licence comment",
        "https://github.com/tabler/": "licence comment",
        "https://cdn.jsdelivr.net/npm/mathjax@3/": "for TeX labels; page has none, policy forbids it",
        "https://cdn.jsdelivr.net/npm/@tabler/": "for Tabler icons; page has none, policy forbids it",
        "https://developers.google.com/maps/": "text of a message about map plots; the page has none",
        "https://maps.googleapis.com/": "for map plots; page has none, policy forbids it",
    },
    "pyodide/pyodide.mjs": {
        "https://cdn.jsdelivr.net/pyodide/": "default place of packages; the worker names its own folder",
    },
    "pyodide/pyodide.asm.mjs": {
        "https://${": "prefix of an address given to pyfetch without a scheme",
    },
}

_ADDRESS = re.compile(r"""(?:https?:)//[^\s"'`<>)\\]*""")
_CSS_OUTSIDE = re.compile(r"""(?:url\(\s*|@import\s+)["']?\s*(?:https?:)?//[^\s"')]*""", re.IGNORECASE)
_OUTSIDE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
# Attributes whose address the browser fetches (or would run); an <a href> only leads somewhere.
_FETCHED = (
    "src",
    "srcset",
    "poster",
    "data",
    "action",
    "formaction",
    "background",
    "xlink:href",
    "imagesrcset",
)


def with_policy(html: str) -> str:
    """The page with the policy as the first thing in its head, if it does not state one itself."""
    if "content-security-policy" in html.lower():
        return html
    placed, count = re.subn(r"(<head[^>]*>)", lambda found: found[1] + META, html, count=1)
    if not count:
        raise BuildError("the page has no <head>, so the content-security policy has no place.")
    return placed


def check_page(html: str) -> None:
    """Raises BuildError if the page lacks the policy or breaks it."""
    page = _Page()
    page.feed(html)
    page.close()
    if page.policies != [CONTENT_SECURITY_POLICY]:
        raise BuildError(
            f"index.html states the policies {page.policies}, expected {[CONTENT_SECURITY_POLICY]}."
        )
    if page.violations:
        raise BuildError(f"index.html breaks the content-security policy: {'; '.join(page.violations)}.")


def check_code(files: Mapping[str, bytes]) -> None:
    """Raises BuildError if a script or style sheet names an outside address that is not listed as harmless.

    Args:
        files: logical name -> content.
    """
    for name, content in sorted(files.items()):
        if name.endswith(".css"):
            found = _CSS_OUTSIDE.findall(content.decode("utf-8"))
        elif name.endswith((".js", ".mjs")):
            harmless = tuple(HARMLESS["*"]) + tuple(HARMLESS.get(name, ()))
            found = [
                address
                for address in _ADDRESS.findall(content.decode("utf-8"))
                if not any(_is_within(address, start) for start in harmless)
            ]
        else:
            continue
        if found:
            raise BuildError(
                f"{name} names an outside address: {found[0]} (the site fetches nothing from outside)."
            )


def _is_within(address: str, start: str) -> bool:
    # A bare scheme is an entry of its own: as a prefix it would let every address pass.
    return address == start if start in ("http://", "https://") else address.startswith(start)


class _Page(HTMLParser):
    """Collects policies and violations while it reads."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.policies: list[str] = []
        self.violations: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.policies.append(given.get("content", ""))
        if tag == "script" and "src" not in given and given.get("type") != "application/json":
            self._report("an inline script that is not application/json")
        if tag == "base":
            self._report("a <base> element")
        self._in_style = tag == "style"
        for name, value in given.items():
            fetched = name in _FETCHED or (name == "href" and tag not in ("a", "area"))
            if name.startswith("on"):
                self._report(f"an inline event handler {name} on <{tag}>")
            elif value.strip().lower().startswith("javascript:"):
                self._report(f"a javascript: address in {name} of <{tag}>")
            elif fetched and any(map(_OUTSIDE.match, re.split(r",\s*", value))):
                self._report(f"the outside address {value} in {name} of <{tag}>")
            elif name == "style" and _CSS_OUTSIDE.search(value):
                self._report(f"an outside address in the style of <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if self._in_style and (found := _CSS_OUTSIDE.search(data)):
            self._report(f"the outside address {found[0]} in a style sheet")

    def _report(self, violation: str) -> None:
        line, column = self.getpos()
        self.violations.append(f"line {line}, column {column + 1}: {violation}")
