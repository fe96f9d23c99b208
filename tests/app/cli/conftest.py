"""The command, called in this process and as one of its own."""

from collections.abc import Callable

import pytest

from app.cli import main
from tests.app.cli.process import Outcome, finished, started


@pytest.fixture
def kvscope(capsys, monkeypatch) -> Callable[..., Outcome]:
    """Calls the command in this process, on an English terminal of 100 columns."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(each) for each in arguments])
        written = capsys.readouterr()
        return Outcome(left.value.code, written.out, written.err)

    return call


@pytest.fixture
def refused(kvscope) -> Callable[..., str]:
    """Calls the command, which should refuse; the one sentence it says."""

    def call(*arguments: object) -> str:
        outcome = kvscope(*arguments)
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert outcome.err.count("\n") == 1, outcome.err
        assert outcome.err.startswith("kvscope: ")
        return outcome.err.removeprefix("kvscope: ").rstrip("\n")

    return call


@pytest.fixture
def process() -> Callable[..., Outcome]:
    """Runs the command in a process of its own, to its end."""
    return lambda *arguments, **more: finished(started(*arguments, **more))
