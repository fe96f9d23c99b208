"""`kvscope experiment`: each experiment a command of its own, its declared params as options."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from app.backend.settings import shorten
from app.backend.texts import both, shown_range
from app.cli.command import Command, Group, near
from app.cli.experiment_view import show_result
from app.cli.failure import CLAIM_FAILED, OK, fail
from app.cli.options import json_option
from app.cli.terminal import Terminal

if TYPE_CHECKING:
    from pycore.experiments.experiment import Experiment, Param


def flag(param: "Param") -> str:
    """How the command line spells a param."""
    return "--" + param.name.replace("_", "-")


class ExperimentGroup(Group):
    """`list`, and a command for each experiment; the experiments are imported when one is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from pycore.experiments import EXPERIMENTS

        return [*super().list_commands(ctx), *EXPERIMENTS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from pycore.experiments import EXPERIMENTS

        experiment = EXPERIMENTS.get(cmd_name)
        if experiment is None:
            return super().get_command(ctx, cmd_name)
        return experiment_command(experiment, self._terminal)


def experiment_group(terminal: Terminal) -> ExperimentGroup:
    """The group of all experiments."""
    listing = Command(
        "list",
        terminal,
        "cli.about.experiment_list",
        callback=lambda as_json: list_experiments(terminal, as_json),
        params=[json_option(terminal)],
    )
    return ExperimentGroup("experiment", terminal, "cli.about.experiment", commands=[listing])


def experiment_command(experiment: "Experiment", terminal: Terminal) -> Command:
    """The command that runs one experiment."""
    presets = ", ".join(preset.name for preset in experiment.presets)
    return Command(
        experiment.name,
        terminal,
        experiment.key("question"),
        callback=lambda **given: run_experiment(experiment, terminal, **given),
        params=[
            *(_option(experiment, param, terminal) for param in experiment.params),
            click.Option(["--preset"], help=terminal.text("cli.option.preset", presets=presets)),
            json_option(terminal),
        ],
    )


def _option(experiment: "Experiment", param: "Param", terminal: Terminal) -> click.Option:
    what = terminal.text(experiment.key(f"param.{param.name}"))
    if param.kind == "bool":
        negation = flag(param).replace("--", "--no-", 1)
        return click.Option([f"{flag(param)}/{negation}", param.name], default=None, help=what)
    may_be = terminal.text(
        "cli.help.default", allowed=shown_range(param.expected), default=str(param.default)
    )
    return click.Option([flag(param), param.name], help=f"{what} {may_be}")


def list_experiments(terminal: Terminal, as_json: bool) -> None:
    """Every experiment with its question, under its subject."""
    from pycore.experiments import EXPERIMENTS, by_subject

    if as_json:
        listed = [
            {
                "name": each.name,
                "subject": each.subject,
                "params": [
                    {"name": param.name, "default": param.default, "expected": param.expected}
                    for param in each.params
                ],
                "presets": {preset.name: dict(preset.settings) for preset in each.presets},
                "question": both(each.key("question")),
            }
            for each in EXPERIMENTS.values()
        ]
        terminal.write_json("experiment list", {"experiments": listed})
        return
    for subject, experiments in by_subject().items():
        terminal.out.print(terminal.text(f"experiment.subject.{subject}"), style="bold underline")
        for each in experiments:
            terminal.out.print(each.name, style="bold")
            terminal.out.print(f"  {terminal.text(each.key('question'))}")
        terminal.out.print()


def run_experiment(
    experiment: "Experiment", terminal: Terminal, preset: str | None, as_json: bool, **given: object
) -> int:
    """Runs, and shows or writes what was found.

    Returns:
        The exit code: 1 if a claim does not hold.

    Raises:
        RequestError: no such preset, a setting that will not do, or a package that is missing.
    """
    from pycore.experiments.experiment import SettingError

    if missing := experiment.missing():
        fail("error.needs", packages=", ".join(missing))
    settings = _preset(experiment, preset) | {
        name: value for name, value in given.items() if value is not None
    }
    try:
        report = experiment.report(_measured(experiment, settings, terminal, quiet=as_json))
    except SettingError as error:
        fail(
            "cli.error.value",
            option=next(
                (flag(param) for param in experiment.params if param.name == error.param), error.param
            ),
            value=shorten(error.value),
            expected=shown_range(error.expected),
        )
    for claim in report["claims"]:
        claim |= both(claim["key"], **report["figures"])
    if as_json:
        terminal.write_json("experiment", report)
    else:
        show_result(experiment, report, terminal)
    return OK if all(claim["holds"] for claim in report["claims"]) else CLAIM_FAILED


def _preset(experiment: "Experiment", name: str | None) -> Mapping[str, object]:
    """Its settings; none without a name."""
    if name is None:
        return {}
    presets = {preset.name: dict(preset.settings) for preset in experiment.presets}
    if name not in presets:
        expected = ", ".join(near(name, list(presets)))
        fail("cli.error.value", option="--preset", value=shorten(name), expected=expected)
    return presets[name]


def _measured(
    experiment: "Experiment", settings: Mapping[str, object], terminal: Terminal, quiet: bool
) -> object:
    """The result; a bar follows the work on a terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn()
    hidden = quiet or not terminal.err.is_terminal
    with Progress(*columns, console=terminal.err, disable=hidden, transient=True) as progress:
        task = progress.add_task(terminal.text(experiment.key("title")), total=None)
        return experiment.run(
            settings, lambda done, total: progress.update(task, completed=done, total=total)
        )
