"""What an experiment is: declared once, for the command line, the page and the tests alike.

Nothing here is in a language. Whatever the user reads is a text key: `experiment.<name>.question`,
`.explanation`, `.param.<name>`, `.preset.<name>`, `.claim.<id>`; the sentence of a claim is filled with the
figures of the result, so that what is checked is what is shown.
"""

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec

from pycore.experiments.result import Result

Setting = int | str | bool
Progress = Callable[[int, int], None]

# A run in pieces of some milliseconds: yields (done, total) after each and returns what was found. Whoever
# drives it can show how far it is, do something else in between, or close it.
Work = Generator[tuple[int, int], None, Result]

# What experiments are about, in the order in which they are listed: text key `experiment.subject.<subject>`.
SUBJECTS = ("memory", "sharing", "attention", "caching", "serving")

_INT = re.compile(r"[+-]?[0-9]{1,18}")
_BOOLS = {"0": False, "1": True, "false": False, "true": True}


class SettingError(ValueError):
    """A setting that the experiment cannot be run with.

    Attributes:
        param: its name.
        value: what was given.
        expected: what would do, in no language: a range `1..64`, or choices `a, b`.
    """

    def __init__(self, param: str, value: object, expected: str) -> None:
        super().__init__(f"{param} is {value!r}, expected {expected}")
        self.param = param
        self.value = value
        self.expected = expected


@dataclass(frozen=True, slots=True)
class Param:
    """One setting of an experiment.

    Attributes:
        name: as the command line and the URL spell it.
        kind: "int", "choice" or "bool".
        default: its value when nothing is said.
        minimum, maximum: bounds of an int, both included.
        choices: of a choice, each with a text key `experiment.<name>.param.<param>.<choice>`.
        unit: text key of the unit, "" for none.
    """

    name: str
    kind: str
    default: Setting
    minimum: int = 0
    maximum: int = 0
    choices: tuple[str, ...] = ()
    unit: str = ""

    @property
    def expected(self) -> str:
        """What values will do, in no language."""
        if self.kind == "int":
            return f"{self.minimum}..{self.maximum}"
        return ", ".join(self.choices if self.kind == "choice" else ("0", "1"))

    def parse(self, value: object) -> Setting:
        """The setting that `value` stands for: a value of the kind, or text that spells one.

        Raises:
            SettingError: it stands for none, or for one out of bounds.

        >>> Param("seed", "int", 5, 0, 9999).parse("12")
        12
        """
        if self.kind == "choice":
            if isinstance(value, str) and value in self.choices:
                return value
        elif self.kind == "bool":
            if isinstance(value, bool):
                return value
            if str(value) in _BOOLS:
                return _BOOLS[str(value)]
        elif not isinstance(value, bool) and _INT.fullmatch(str(value)):
            number = int(str(value))
            if self.minimum <= number <= self.maximum:
                return number
        raise SettingError(self.name, value, self.expected)


@dataclass(frozen=True, slots=True)
class Preset:
    """Named settings; params that are not named keep their defaults. Every claim holds at every preset."""

    name: str
    settings: Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that a result can bear out or refute.

    Attributes:
        id: names its text key.
        source: names who says so: text key `experiment.source.<source>`.
        check: whether the result bears it out; looks at the figures that the sentence shows.
    """

    id: str
    source: str
    check: Callable[[Result], bool]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question that a run answers.

    Attributes:
        name: names its text keys.
        subject: what it is about, one of SUBJECTS; those of a subject are listed together.
        params: its settings.
        presets: the first is shown first; it has the defaults.
        claims: what the result should bear out.
        measure: starts the work with all settings validated.
        needs: packages beside the standard library that it imports once it runs; declaring needs none.
    """

    name: str
    subject: str
    params: tuple[Param, ...]
    presets: tuple[Preset, ...]
    claims: tuple[Claim, ...]
    measure: Callable[[Mapping[str, Setting]], Work]
    needs: tuple[str, ...] = ()

    def missing(self) -> list[str]:
        """Those of the needed packages that are not installed here."""
        return [name for name in self.needs if find_spec(name) is None]

    def key(self, part: str) -> str:
        """The text key of a part."""
        return f"experiment.{self.name}.{part}"

    def validated(self, settings: Mapping[str, object]) -> dict[str, Setting]:
        """A value for every param: the one given, else the default.

        Raises:
            SettingError: an unknown param, or a value that will not do.
        """
        names = [param.name for param in self.params]
        for name, value in settings.items():
            if name not in names:
                raise SettingError(name, value, ", ".join(names))
        return {param.name: param.parse(settings.get(param.name, param.default)) for param in self.params}

    def steps(self, settings: Mapping[str, object]) -> Work:
        """The measurement with `settings` over the defaults, before its first piece.

        Raises:
            SettingError: settings that will not do; where only their combination will not, the first
                piece raises it.
        """
        return self.measure(self.validated(settings))

    def run(self, settings: Mapping[str, object], progress: Progress | None = None) -> Result:
        """Measures with `settings` over the defaults.

        Args:
            settings: by param name.
            progress: called with (done, total) now and then; what it raises ends the run.

        Raises:
            SettingError: settings that will not do, alone or together.
        """
        with closing(self.steps(settings)) as work:
            while True:
                try:
                    done, total = next(work)
                except StopIteration as end:
                    return end.value
                if progress is not None:
                    progress(done, total)

    def report(self, result: Result) -> dict:
        """The result with the verdict on each claim, as plain JSON."""
        claims = [
            {
                "id": claim.id,
                "key": self.key(f"claim.{claim.id}"),
                "source": f"experiment.source.{claim.source}",
                "holds": claim.check(result),
            }
            for claim in self.claims
        ]
        return {"experiment": self.name, **result.as_dict(), "claims": claims}
