"""The one source of randomness: the same integers on every platform.

Only those methods of `random.Random` are passed on whose results are fixed by the language
(CPython 3.11 to 3.14, 32 and 64 bit); each purpose forks a stream of its own, so drawing more numbers
for one purpose never shifts another.
"""

import random
from collections.abc import MutableSequence, Sequence
from hashlib import blake2b


class Rng:
    """A seeded stream of numbers.

    >>> arrivals = Rng(5).fork("arrivals")
    >>> [arrivals.randrange(100) for _ in range(3)] == [Rng(5).fork("arrivals").randrange(100)] * 3
    False
    >>> Rng(5).fork("arrivals").getrandbits(32) == Rng(5).fork("arrivals").getrandbits(32)
    True
    """

    __slots__ = ("_random", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._random = random.Random(seed)

    def fork(self, purpose: str) -> "Rng":
        """An independent stream named `purpose`; does not draw from this one."""
        digest = blake2b(f"{self.seed}/{purpose}".encode(), digest_size=8).digest()
        return Rng(int.from_bytes(digest, "big"))

    def random(self) -> float:
        """A float in [0, 1) with 53 random bits."""
        return self._random.random()

    def getrandbits(self, k: int) -> int:
        """An integer of `k` random bits."""
        return self._random.getrandbits(k)

    def randrange(self, start: int, stop: int | None = None) -> int:
        """An integer in [start, stop), or in [0, start) with one argument."""
        return self._random.randrange(start) if stop is None else self._random.randrange(start, stop)

    def choices(self, population: Sequence, weights: Sequence[int], k: int) -> list:
        """`k` picks with replacement, by integer weights."""
        return self._random.choices(population, weights=weights, k=k)

    def shuffle(self, items: MutableSequence) -> None:
        """Reorders `items` in place."""
        self._random.shuffle(items)
