"""Fair timing in one process: contenders take turns, CPU time, medians."""

import gc
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time


@dataclass(frozen=True, slots=True)
class Timing:
    """CPU seconds of the rounds of one contender."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle round, in seconds."""
        return median(self.seconds)

    @property
    def spread(self) -> float:
        """(slowest − fastest) / median: how much the machine disturbed the rounds."""
        return (max(self.seconds) - min(self.seconds)) / self.median


def alternate(contenders: Mapping[str, Callable[[], Callable[[], object]]], rounds: int) -> dict[str, Timing]:
    """Runs each contender once a round, in turn, so that a slow stretch of the machine hits all alike.

    Args:
        contenders: name → a function that sets up, untimed, and returns the work to be timed.
        rounds: timed rounds, after one that warms up and is dropped.

    Returns:
        The timings by name, in the order given.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds + 1):
        for name, prepare in contenders.items():
            work = prepare()
            gc.collect()
            start = process_time()
            work()
            seconds[name].append(process_time() - start)
    return {name: Timing(tuple(measured[1:])) for name, measured in seconds.items()}


def machine() -> str:
    """Interpreter and processor, as one line for a report."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1] for line in cpuinfo.read_text().splitlines() if "model name" in line]
        processor = f"{len(names)} × {names[0].strip()}" if names else processor
    return f"{platform.python_implementation()} {platform.python_version()}, {processor}"
