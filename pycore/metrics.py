"""What a run comes to: pure functions over wastes, recordings and events."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from pycore.events import Event, Waiting
from pycore.memory.waste import Waste
from pycore.recorder import Recording


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """A run's waste accounts, added up; every sum is over samples of the same pool.

    Attributes:
        samples: accounts added up.
        capacity: slots in the pool.
        real, reserved, internal, external, usable: sums in slots, see Waste.
        residents: sum of the sequences that held memory.
        peak_residents: the most that did at once.
    """

    samples: int
    capacity: int
    real: int
    reserved: int
    internal: int
    external: int
    usable: int
    residents: int
    peak_residents: int

    def mean_share(self, slots: int) -> float:
        """A sum of slots as a share of the pool, mean over the samples, 0 to 1."""
        return slots / (self.samples * self.capacity)

    @property
    def utilisation(self) -> float:
        """Mean share of the pool that holds real tokens, 0 to 1."""
        return self.mean_share(self.real)

    @property
    def real_of_held(self) -> float:
        """Real slots as a share of all held slots, 0 to 1; 0 if nothing was ever held."""
        held = self.real + self.reserved + self.internal
        return self.real / held if held else 0.0

    @property
    def mean_residents(self) -> float:
        """Sequences that held memory, mean over the samples."""
        return self.residents / self.samples


class MemoryTally:
    """Adds up samples one at a time: a long run need not be kept."""

    def __init__(self) -> None:
        self._samples = self._capacity = self._residents = self._peak = 0
        self._slots = [0] * 5

    def add(self, waste: Waste, residents: int) -> None:
        """Adds one step's account, and how many sequences held memory.

        Raises:
            ValueError: it is of another pool than the samples before.
        """
        if self._samples and waste.capacity != self._capacity:
            raise ValueError(
                f"sample {self._samples} is of a pool of {waste.capacity} slots, not {self._capacity}"
            )
        self._samples += 1
        self._capacity = waste.capacity
        parts = (waste.real, waste.reserved, waste.internal, waste.external, waste.usable)
        self._slots = [total + part for total, part in zip(self._slots, parts, strict=True)]
        self._residents += residents
        self._peak = max(self._peak, residents)

    def use(self) -> MemoryUse:
        """What the samples come to.

        Raises:
            ValueError: there are none.
        """
        if not self._samples:
            raise ValueError("no samples: expected at least 1")
        return MemoryUse(self._samples, self._capacity, *self._slots, self._residents, self._peak)


def memory_use(samples: Iterable[tuple[Waste, int]]) -> MemoryUse:
    """Adds up (waste, residents) samples, see MemoryTally.

    Raises:
        ValueError: no samples, or samples of different pools.

    >>> use = memory_use([(Waste(6, 2, 0, 0, 2), 3), (Waste(2, 0, 0, 1, 7), 1)])
    >>> use.utilisation, use.real_of_held, use.mean_residents
    (0.4, 0.8, 2.0)
    """
    tally = MemoryTally()
    for waste, residents in samples:
        tally.add(waste, residents)
    return tally.use()


def recorded_use(recording: Recording) -> MemoryUse:
    """The memory use of a recording's steps; the frame before the first step does not count.

    Raises:
        ValueError: the recording has no steps.
    """
    return memory_use((frame.waste, frame.num_running) for frame in recording.frames[1:])


def blocked_by_fragmentation(events: Iterable[Event]) -> Iterator[int]:
    """The sequences that could not be admitted although enough slots were free in all, once per event."""
    return (event.seq for event in events if type(event) is Waiting and event.reason == "fragmented")


def percentile(values: Collection[int], percent: int) -> int:
    """The nearest-rank percentile: the smallest value that at least `percent` % of the values do not exceed.

    Always one of the values, so an integer stays one.

    Raises:
        ValueError: no values, or a percent outside 0–100.

    >>> [percentile([15, 20, 35, 40, 50], p) for p in (0, 30, 40, 50, 100)]
    [15, 20, 20, 35, 50]
    """
    if not values or not 0 <= percent <= 100:
        raise ValueError(f"percentile {percent} of {len(values)} values: expected 0..100 of at least 1")
    rank = max(1, -(-percent * len(values) // 100))
    return sorted(values)[rank - 1]


@dataclass(frozen=True, slots=True)
class Spread:
    """How a quantity is distributed; all 0 where there is nothing to measure.

    Attributes:
        mean: arithmetic mean.
        p50, p90, p99: nearest-rank percentiles.
        max: the largest.
    """

    mean: float
    p50: int
    p90: int
    p99: int
    max: int


def spread(values: Collection[int]) -> Spread:
    """The spread of `values`, in their unit.

    >>> spread([3, 1, 2])
    Spread(mean=2.0, p50=2, p90=3, p99=3, max=3)
    """
    if not values:
        return Spread(0.0, 0, 0, 0, 0)
    ordered = sorted(values)
    p50, p90, p99 = (percentile(ordered, percent) for percent in (50, 90, 99))
    return Spread(sum(ordered) / len(ordered), p50, p90, p99, ordered[-1])
