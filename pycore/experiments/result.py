"""What an experiment found: figures, tables, charts. Plain JSON; pages and terminals draw it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Figure = int | float | str
# None where there is nothing to measure.
Cell = int | float | str | None

CELL_KINDS = ("key", "int", "float")
CHART_KINDS = ("bar", "stacked_bar", "line")

PERCENT = "experiment.unit.percent"
TOKENS = "experiment.unit.tokens"
REQUESTS = "experiment.unit.requests"
BLOCKS = "experiment.unit.blocks"
SLOTS = "experiment.unit.slots"
STEPS = "experiment.unit.steps"
SECONDS = "experiment.unit.seconds"
MILLISECONDS = "experiment.unit.milliseconds"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        key: text key of its name.
        kind: one of CELL_KINDS: "key" cells are text keys, the others numbers or None.
        unit: text key of the unit, "" for none.
    """

    key: str
    kind: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns.

    Attributes:
        key: text key of the title.
        columns: at least one.
        rows: a cell for every column.

    Raises:
        ValueError: a row of another length.
    """

    key: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.key}: {len(row)} cells under {len(self.columns)} columns: {row}")

    def as_dict(self) -> dict:
        """As plain JSON."""
        columns = [{"key": each.key, "kind": each.kind, "unit": each.unit} for each in self.columns]
        return {"key": self.key, "columns": columns, "rows": [list(row) for row in self.rows]}


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or the bars of one colour: a value for every x; None leaves a gap."""

    key: str
    values: tuple[int | float | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of a result.

    Attributes:
        key: text key of the title.
        kind: one of CHART_KINDS.
        x: positions, as text keys (names) or numbers; `x_kind` is "key" or "int".
        x_label, y_label: text keys of the axes.
        x_unit, y_unit: text keys of the units, "" for none.
        series: each as long as x.

    Raises:
        ValueError: a series of another length.
    """

    key: str
    kind: str
    x: tuple[int | str, ...]
    x_kind: str
    x_label: str
    x_unit: str
    y_label: str
    y_unit: str
    series: tuple[Series, ...]

    def __post_init__(self) -> None:
        for each in self.series:
            if len(each.values) != len(self.x):
                raise ValueError(f"{each.key}: {len(each.values)} values for {len(self.x)} positions")

    def as_dict(self) -> dict:
        """As plain JSON."""
        return {
            "key": self.key,
            "kind": self.kind,
            "x": list(self.x),
            "x_kind": self.x_kind,
            "x_label": self.x_label,
            "x_unit": self.x_unit,
            "y_label": self.y_label,
            "y_unit": self.y_unit,
            "series": [{"key": each.key, "values": list(each.values)} for each in self.series],
        }


@dataclass(frozen=True, slots=True)
class Result:
    """What one run of an experiment found.

    Attributes:
        settings: with which it was run, all of them.
        figures: measured numbers by name, rounded as they are shown; fields of the claims' sentences.
        tables, charts: for the eye.
        pictures: columns of plain JSON by name, for pictures that are drawn for one experiment alone.
    """

    settings: Mapping[str, int | str | bool]
    figures: Mapping[str, Figure]
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]
    pictures: Mapping[str, Mapping[str, list]] = field(default_factory=dict)

    def as_dict(self) -> dict:
        """As plain JSON."""
        return {
            "settings": dict(self.settings),
            "figures": dict(self.figures),
            "tables": [table.as_dict() for table in self.tables],
            "charts": [chart.as_dict() for chart in self.charts],
            "pictures": {name: dict(columns) for name, columns in self.pictures.items()},
        }


def percent(share: float) -> float:
    """A share from 0 to 1 in percent, with the one digit that is shown.

    >>> percent(0.38249)
    38.2
    """
    return round(100 * share, 1)
