"""Tables and charts in few words: their text keys follow from the experiment and the name of the part.

Columns that several experiments show are declared here once, with a key that is nobody's own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pycore.experiments.result import (
    BLOCKS,
    PERCENT,
    SECONDS,
    STEPS,
    TOKENS,
    Cell,
    Chart,
    Column,
    Series,
    Table,
)

_SHARED = "experiment.column."

ORDER = Column(f"{_SHARED}order", "key")
HIT_RATE = Column(f"{_SHARED}hit_rate", "float", PERCENT)
PUBLISHED_HIT_RATE = Column(f"{_SHARED}published_hit_rate", "float", PERCENT)
HIT_TOKENS = Column(f"{_SHARED}hit_tokens", "int", TOKENS)
PROMPT_TOKENS = Column(f"{_SHARED}prompt_tokens", "int", TOKENS)
COMPUTED = Column(f"{_SHARED}computed", "int", TOKENS)
LONGEST_WAIT = Column(f"{_SHARED}longest_wait", "int", STEPS)
MEAN_WAIT = Column(f"{_SHARED}mean_wait", "float", STEPS)
PREFILL_TIME = Column(f"{_SHARED}prefill_time", "float", SECONDS)
CAPACITY = Column(f"{_SHARED}capacity", "int", TOKENS)
BLOCK_SIZE = Column(f"{_SHARED}block_size", "int", TOKENS)
CACHE = Column(f"{_SHARED}cache", "key")
LOOKED_UP = Column(f"{_SHARED}looked_up", "int", TOKENS)
POOL_BLOCKS = Column(f"{_SHARED}pool_blocks", "int", BLOCKS)
COUNTING = Column(f"{_SHARED}counting", "key")
STEP = Column(f"{_SHARED}step", "int")


def order_key(order: str) -> str:
    """The name of an order in which requests are served."""
    return f"experiment.order.{order}"


@dataclass(frozen=True, slots=True)
class Keys:
    """The text keys of one experiment.

    Attributes:
        name: of the experiment.

    >>> Keys("theorem").column("below", "int", TOKENS).key
    'experiment.theorem.column.below'
    """

    name: str

    def of(self, part: str) -> str:
        """The key of any part."""
        return f"experiment.{self.name}.{part}"

    def column(self, name: str, kind: str = "int", unit: str = "") -> Column:
        """A column, or an axis, of this experiment alone."""
        return Column(self.of(f"column.{name}"), kind, unit)

    def axis(self, name: str, unit: str = "", kind: str = "float") -> Column:
        """An axis that has no column, `axis.<name>`."""
        return Column(self.of(f"axis.{name}"), kind, unit)

    def table(self, name: str, columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> Table:
        """A table with the title `table.<name>`."""
        return Table(self.of(f"table.{name}"), tuple(columns), tuple(tuple(row) for row in rows))

    def chart(
        self,
        name: str,
        kind: str,
        x: Column,
        positions: Sequence[int | str],
        y: Column,
        values: Mapping[str, Sequence[int | float | None]] | Sequence[int | float | None],
    ) -> Chart:
        """A chart with the title `chart.<name>`.

        Args:
            name, kind: see result.Chart for the kinds.
            x: names the axis below; its kind is that of the positions.
            positions: text keys or integers.
            y: names the axis at the side.
            values: a value for each position; by text key of the series if there are several.
        """
        several = values if isinstance(values, Mapping) else {y.key: values}
        series = tuple(Series(key, tuple(each)) for key, each in several.items())
        return Chart(
            self.of(f"chart.{name}"), kind, tuple(positions), x.kind, x.key, x.unit, y.key, y.unit, series
        )
