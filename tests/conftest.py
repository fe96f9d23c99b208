"""How many examples hypothesis tries: `--hypothesis-profile=ci` (the default) or `=deep`; and one browser."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.chromium import FLAGS, find_chromium

# "ci" tries the same examples every time, so that a red run is a change of the code and never of the dice.
settings.register_profile(
    "ci",
    max_examples=30,
    stateful_step_count=30,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("deep", settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """One Chromium for all tests of a process: playwright can be started once in it."""
    executable = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield chromium
        chromium.close()
