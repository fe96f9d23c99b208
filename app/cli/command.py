"""Commands whose help and complaints are in the user's language."""

from difflib import get_close_matches

import click

from app.backend.texts import LANGUAGES
from app.cli.failure import fail
from app.cli.help_page import help_page
from app.cli.terminal import LANGUAGE_FLAG, Terminal


def near(word: str, known: list[str]) -> list[str]:
    """The known words that `word` may have been meant for, all of them if none is close."""
    return get_close_matches(word, known, n=3, cutoff=0.5) or known


def _quoted(value: object) -> str:
    """What was typed, as it may be repeated."""
    from app.backend.settings import shorten  # with the simulator's settings, which help can do without

    return shorten(value)


def language_option(terminal: Terminal) -> click.Option:
    """`--lang`, on every command; its value has been read before (see terminal.language)."""

    def check(_: click.Context, __: click.Parameter, value: str | None) -> None:
        if value is not None and value not in LANGUAGES:
            fail("cli.error.value", option=LANGUAGE_FLAG, value=_quoted(value), expected=", ".join(LANGUAGES))

    return click.Option(
        [LANGUAGE_FLAG],
        callback=check,
        expose_value=False,
        is_eager=True,
        help=terminal.text("cli.option.lang"),
    )


class _Told:
    """What every command here has: help as one page, and `--lang`."""

    def _set_up(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.params.append(language_option(terminal))

    def get_help(self, ctx: click.Context) -> str:
        return help_page(self, ctx, self._terminal)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = self._terminal.text("cli.option.help")
            option.callback = self._help_if_asked
        return option

    def _help_if_asked(self, ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked and not ctx.resilient_parsing:
            self._terminal.write(f"{self.get_help(ctx)}\n")
            ctx.exit()


class Command(_Told, click.Command):
    """One command.

    Args:
        name: as it is typed.
        terminal: where it writes.
        about: text key of its description; the first sentence stands alone in lists of commands.
    """

    def __init__(self, name: str, terminal: Terminal, about: str, **more: object) -> None:
        super().__init__(name, help=about, **more)
        self._set_up(terminal)


class Group(_Told, click.Group):
    """Commands under one name; see Command."""

    def __init__(self, name: str, terminal: Terminal, about: str, **more: object) -> None:
        super().__init__(name, help=about, invoke_without_command=True, callback=self._help_if_alone, **more)
        self._set_up(terminal)

    def _help_if_alone(self) -> None:
        """Without a word after it, a group shows its help."""
        ctx = click.get_current_context()
        if ctx.invoked_subcommand is None:
            self._terminal.write(f"{self.get_help(ctx)}\n")

    def abouts(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Each command's name, and the text key of its description."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        return [(name, command.help or "") for name, command in commands if command is not None]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Names what may have been meant by a word that is no command."""
        word = args[0]
        command = self.get_command(ctx, word)
        if command is None:
            known = self.list_commands(ctx)
            fail(
                "cli.error.command",
                command=ctx.command_path,
                value=_quoted(word),
                near=", ".join(near(word, known)),
            )
        return word, command, args[1:]


def complaint(error: click.UsageError, arguments: list[str], terminal: Terminal) -> str:
    """One sentence on arguments that cannot be parsed."""
    command = error.ctx.command_path if error.ctx else "kvscope"
    if isinstance(error, click.NoSuchOption):
        flags = [flag for param in error.ctx.command.params for flag in param.opts] if error.ctx else []
        close = get_close_matches(error.option_name, flags, n=2)
        option = _quoted(error.option_name)
        if not close:
            return terminal.text("cli.error.option", option=option, command=command)
        return terminal.text("cli.error.near_option", option=option, near=", ".join(close), command=command)
    if isinstance(error, click.BadOptionUsage):
        option = error.option_name
        key = "value_given" if any(each.startswith(f"{option}=") for each in arguments) else "value_missing"
        return terminal.text(f"cli.error.{key}", option=_quoted(option))
    extra = getattr(error, "message", "").partition("(")[2].rstrip(")")
    if type(error) is click.UsageError and extra:  # click has no class of its own for words too many
        return terminal.text("cli.error.extra", command=command, value=_quoted(extra))
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return terminal.text(
            "cli.error.missing", argument=error.param.make_metavar(error.ctx), command=command
        )
    return terminal.text("cli.error.usage", command=command, reason=_quoted(error.format_message()))
