"""A load: the requests of a run, and when they come."""

from dataclasses import dataclass

from pycore.request import Request
from pycore.rng import Rng


@dataclass(frozen=True, slots=True)
class Load:
    """Requests to run.

    Attributes:
        requests: in order of arrival.
        max_len: the longest prompt plus output that the load can contain, in tokens; what Orca Max reserves.
        prefix_len: tokens of the prefix that the operator keeps in memory for the load; 0: none.
    """

    requests: tuple[Request, ...]
    max_len: int
    prefix_len: int = 0


def bursts(rng: Rng, num: int, first: int, size: tuple[int, int], gap: tuple[int, int]) -> list[int]:
    """Arrival steps of `num` requests: `first` at once, then bursts of a random size after random gaps.

    Args:
        rng: a stream of its own.
        num: requests.
        first: of these, there at once.
        size: fewest and most requests a burst.
        gap: fewest and most steps between two bursts.
    """
    steps = [0] * min(first, num)
    step = 0
    while len(steps) < num:
        step += rng.randrange(gap[0], gap[1] + 1)
        steps += [step] * min(rng.randrange(size[0], size[1] + 1), num - len(steps))
    return steps
