"""Most of what is built here carries the experiments' first results."""

import pytest

from tests.first_reports import first_reports


@pytest.fixture(autouse=True, scope="session")
def reports_at_hand():
    """Makes them, unless another process does or has."""
    first_reports()
