"""The built site, served below a path of its own, and pages of it that are watched for complaints."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.site.server import SiteServer
from tests.browser.built_site import built_site


@pytest.fixture(scope="session")
def site(browser) -> Path:
    """Folder of the project's site."""
    return built_site()


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, two folders below the server's root."""
    root = site.parents[1]
    with SiteServer(root, 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"{server.address}{site.relative_to(root).as_posix()}/"
        server.shutdown()


@pytest.fixture
def new_context(browser) -> Iterator[Callable]:
    """new_context(**options) -> a browser context without any cache, closed with the test."""
    contexts = []

    def make(**options):
        options = {
            "viewport": {"width": 1440, "height": 900},
            "locale": "en-GB",
            "color_scheme": "light",
            "service_workers": "block",
            **options,
        }
        contexts.append(browser.new_context(**options))
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def simulator(new_context, address) -> Iterator[Callable]:
    """simulator(**context options) -> a Simulator, not yet opened.

    When the test is over, no page may have asked for anything outside the site, and none may have complained,
    but for `allowed`: words that an expected complaint contains.
    """
    from tests.browser.simulator import Simulator

    made: list[tuple[Simulator, tuple[str, ...]]] = []

    def make(*prepare: Callable, allowed: tuple[str, ...] = (), **options) -> Simulator:
        context = new_context(**options)
        for each in prepare:
            each(context)
        made.append((Simulator(context, address), allowed))
        return made[-1][0]

    yield make
    for opened, allowed in made:
        assert opened.outside == []
        assert [said for said in opened.complaints if not any(word in said for word in allowed)] == []
