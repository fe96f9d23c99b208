"""The command and its exit codes: 0 fine, 1 a claim failed, 2 bad usage or input, 130 interrupted."""

import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from app.backend.request_error import RequestError
from app.cli.command import Group, complaint
from app.cli.failure import BAD_INPUT, INTERRUPTED, OK, OUTPUT_CLOSED, OutputClosedError
from app.cli.terminal import Terminal, language, let_stdout_wait, silence_stdout
from app.cli.version import version

# name of each command, which is that of its module, too → the function there that makes it
_COMMANDS = {
    "run": "run_command",
    "replay": "replay_command",
    "experiment": "experiment_group",
    "capacity": "capacity_command",
    "sweep": "sweep_command",
    "sizing": "sizing_command",
    "fidelity": "fidelity_command",
    "site": "site_command",
}


class Kvscope(Group):
    """All commands; each is imported when it is called, so that help comes at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        return getattr(import_module(f"app.cli.{cmd_name}"), _COMMANDS[cmd_name])(self._terminal)

    def abouts(self, ctx: click.Context) -> list[tuple[str, str]]:
        return [(name, f"cli.about.{name}") for name in _COMMANDS]


def kvscope(terminal: Terminal) -> Kvscope:
    """The command with all that it can do."""

    def show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked:
            terminal.write(f"kvscope {version()}\n")
            ctx.exit()

    version_option = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show_version,
        help=terminal.text("cli.option.version"),
    )
    return Kvscope("kvscope", terminal, "cli.about", epilog="cli.help.exit_codes", params=[version_option])


def main(arguments: list[str] | None = None) -> NoReturn:
    """Runs the command and leaves with its exit code.

    Args:
        arguments: without the command's own name; those of the process if None.
    """
    given = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal lacks must not end the command
            stream.reconfigure(errors="replace")
    let_stdout_wait()
    terminal = Terminal(language(given, os.environ))
    try:
        code = _run(terminal, given)
        terminal.finish()
    except OutputClosedError:
        silence_stdout()
        code = OUTPUT_CLOSED
    sys.exit(code)


def _run(terminal: Terminal, arguments: list[str]) -> int:
    try:
        return kvscope(terminal).main(arguments, prog_name="kvscope", standalone_mode=False) or OK
    except RequestError as error:
        reason = error.sentences[terminal.lang]
    except click.UsageError as error:
        reason = complaint(error, arguments, terminal)
    except click.Abort:
        terminal.err.print(terminal.text("cli.stopped"))
        return INTERRUPTED
    terminal.err.print(f"kvscope: {reason}", style="red", soft_wrap=True)
    return BAD_INPUT
