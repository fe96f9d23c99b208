"""`kvscope site`: the static site, by build.py of the source checkout."""

import importlib.util
from pathlib import Path

import click

from app.cli.command import Command
from app.cli.failure import BAD_INPUT, OK, fail
from app.cli.terminal import Terminal

BUILD = Path(__file__).resolve().parents[2] / "build.py"


def site_command(terminal: Terminal) -> Command:
    """The command."""

    def site(out: str | None, serve: bool) -> int:
        if not BUILD.is_file():
            fail("cli.error.no_checkout", path=BUILD)
        spec = importlib.util.spec_from_file_location("build", BUILD)
        build = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(build)
        except ModuleNotFoundError as missing:
            fail("cli.error.no_package", package=missing.name, extra="build")
        arguments = (["--out", out] if out else []) + (["--serve"] if serve else [])
        return BAD_INPUT if build.main(arguments) else OK

    return Command(
        "site",
        terminal,
        "cli.about.site",
        callback=site,
        params=[
            click.Option(["--out"], help=terminal.text("cli.option.out")),
            click.Option(["--serve"], is_flag=True, help=terminal.text("cli.option.serve")),
        ],
    )
