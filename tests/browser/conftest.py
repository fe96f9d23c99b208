"""The built site, served below a path of its own, and pages of it that are watched for complaints."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.site.server import SiteServer
from tests.browser.built_site import built_site
from tests.browser.simulator import ABORTED, Simulator, without_python


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


WINDOW = {
    "viewport": {"width": 1440, "height": 900},
    "locale": "en-GB",
    "color_scheme": "light",
    "service_workers": "block",
}


@pytest.fixture
def new_context(browser) -> Iterator[Callable]:
    """new_context(**options) -> a browser context without any cache, closed with the test."""
    contexts = []

    def make(**options):
        contexts.append(browser.new_context(**WINDOW | options))
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


class Windows:
    """Windows that are lent to one test after the other: a page takes twice as long to open in a new one.

    A test finds a new document, and what the browser keeps of the site's hashed files; nothing else is kept.
    """

    MOST = 4  # that nobody uses; each holds a process

    def __init__(self, browser, address: str) -> None:
        self._browser = browser
        self._address = address
        self._idle: list[tuple[tuple, Simulator]] = []

    def take(self, prepare: tuple[Callable, ...], options: dict) -> Simulator:
        """One that was prepared and opened in this way."""
        for at, (how, window) in enumerate(self._idle):
            if how == (prepare, options):
                del self._idle[at]
                window.page.set_viewport_size(options["viewport"])
                return window
        context = self._browser.new_context(**options)
        for each in prepare:
            each(context)
        return Simulator(context, self._address)

    def give_back(self, prepare: tuple[Callable, ...], options: dict, window: Simulator) -> None:
        """Leaves it to the next test, and the one that has been idle for longest to nobody."""
        if not set(prepare) <= {without_python}:  # a function of the test's own holds what is its own
            window.page.context.close()
            return
        window.leave()
        self._idle.append(((prepare, options), window))
        if len(self._idle) > self.MOST:
            self._idle.pop(0)[1].page.context.close()

    def close(self) -> None:
        """Closes all."""
        for _, window in self._idle:
            window.page.context.close()


@pytest.fixture(scope="session")
def windows(browser, address) -> Iterator[Windows]:
    """Of this process."""
    kept = Windows(browser, address)
    yield kept
    kept.close()


@pytest.fixture
def simulator(windows) -> Iterator[Callable]:
    """simulator(**context options) -> a Simulator, not yet opened.

    When the test is over, no page may have asked for anything outside the site, and none may have complained,
    but for `allowed`: words that an expected complaint contains.
    """
    made: list[tuple[tuple, Simulator, tuple[str, ...]]] = []

    def make(*prepare: Callable, allowed: tuple[str, ...] = (), **options) -> Simulator:
        how = (prepare, WINDOW | options)
        made.append((how, windows.take(*how), allowed))
        return made[-1][1]

    yield make
    complaints = [
        said
        for _, window, allowed in made
        for said in window.complaints
        if not any(word in said for word in allowed)
    ]
    outside = [url for _, window, _ in made for url in window.outside]
    for how, window, _ in made:
        windows.give_back(*how, window)
    assert outside == []
    assert complaints == []


@pytest.fixture
def open_without_python(simulator) -> Callable:
    """open_without_python(query, **context options) -> a page that knows that it has to do without."""

    def make(query: str = "?lang=en", **options) -> Simulator:
        return simulator(without_python, allowed=(ABORTED,), **options).open_in_vain(query)

    return make
