"""Where a command writes: what was asked for to stdout, all else to stderr, in one language."""

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from app.backend.texts import LANGUAGES, text
from app.cli.failure import OutputClosedError

if TYPE_CHECKING:
    from rich.console import Console

LANGUAGE_FLAG = "--lang"


def language(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The language asked for by `--lang`, else by the locale, else English.

    It has to be known before the arguments are parsed, since that already takes sentences.

    >>> language(["run"], {"LANG": "zh_CN.UTF-8"}), language(["run", "--lang=en"], {"LANG": "zh_CN.UTF-8"})
    ('zh', 'en')
    """
    asked = [after for flag, after in pairwise(arguments) if flag == LANGUAGE_FLAG]
    asked += [each.partition("=")[2] for each in arguments if each.startswith(f"{LANGUAGE_FLAG}=")]
    if asked and asked[-1] in LANGUAGES:
        return asked[-1]
    locale = next(
        (environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), ""
    )
    spoken = locale.partition("_")[0].partition(".")[0].lower()
    return spoken if spoken in LANGUAGES else LANGUAGES[0]


class Terminal:
    """The two streams of a command.

    Attributes:
        lang: of every sentence.
    """

    def __init__(self, lang: str) -> None:
        self.lang = lang

    def text(self, key: str, **fields: object) -> str:
        """The sentence `key`; see app.backend.texts."""
        return text(self.lang, key, **fields)

    def percent(self, share: float) -> str:
        """A share from 0 to 1 with one digit after the point."""
        return self.text("cli.percent", n=f"{100 * share:.1f}")

    @cached_property
    def out(self) -> "Console":
        """stdout. Nothing in it is read as markup: file names and cells come from anywhere."""
        return _console(sys.stdout)

    @cached_property
    def err(self) -> "Console":
        """stderr."""
        return _console(sys.stderr)

    @cached_property
    def draws_blocks(self) -> bool:
        """Whether stdout can show block elements such as █."""
        return (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")

    def note(self, sentence: str) -> None:
        """A remark beside the result."""
        self.err.print(sentence, style="yellow", soft_wrap=True)

    def write(self, content: str) -> None:
        """Text to stdout as it is.

        Raises:
            OutputClosedError: nobody reads it.
        """
        try:
            sys.stdout.write(content)
            sys.stdout.flush()
        except BrokenPipeError:
            raise OutputClosedError from None

    def write_json(self, command: str, document: Mapping[str, object]) -> None:
        """One document on one line."""
        self.write(json.dumps({"version": 1, "command": command, **document}) + "\n")

    def finish(self) -> None:
        """Sends what is still held back; after this, a closed stdout no longer matters to the interpreter.

        Raises:
            OutputClosedError: nobody reads it.
        """
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            raise OutputClosedError from None


def let_stdout_wait() -> None:
    """Makes a pipe that whoever started the command has left non-blocking one that waits for its reader.

    Into such a pipe Python writes what fits, some 64 KiB, and gives the rest up with BlockingIOError.
    """
    with contextlib.suppress(OSError, ValueError):  # no stream of a file, or a platform without such pipes
        number = sys.stdout.fileno()
        if not os.isatty(number) and not os.get_blocking(number):
            os.set_blocking(number, True)


def silence_stdout() -> None:
    """Lets the interpreter flush at its exit into nowhere, instead of complaining about a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _console(stream: object) -> "Console":
    # Imported here since the command's help can do without it, and starts sooner.
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            raise OutputClosedError

    return PlainConsole(file=stream, markup=False, highlight=False, emoji=False)
