"""Ctrl-C as a question that a loop can ask, so that what was measured until then is not lost."""

import signal
from types import FrameType


class Interrupt:
    """While it is entered, the first Ctrl-C sets `asked`, and the second one interrupts as always.

    Attributes:
        asked: whether somebody wants the work to stop.
    """

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> "Interrupt":
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)
