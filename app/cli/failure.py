"""Reasons to stop with one sentence."""

from typing import NoReturn

from app.backend.request_error import RequestError

OK = 0
CLAIM_FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells say it
OUTPUT_CLOSED = 141  # 128 + SIGPIPE


class OutputClosedError(Exception):
    """Whoever read the output has gone, as `head` does."""


def fail(key: str, **fields: object) -> NoReturn:
    """Stops the command with the sentence `key` of the catalogue.

    Raises:
        RequestError: always.
    """
    raise RequestError.of(key, **fields)
