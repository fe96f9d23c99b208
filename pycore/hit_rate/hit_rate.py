"""How much of a trace's prompts a prefix cache would have held, by its policy and size; no engine runs.

Requests are served one after the other, in the order of the trace. Of each prompt the blocks count that are
cached without a gap from its beginning; then all its blocks are cached. What is counted is the share of
prompt tokens that were cached, over the requests after a warm-up.
"""

from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass

from pycore.hit_rate.block_cache import BLOCK_CACHES, BlockCache, Unbounded
from pycore.hit_rate.prefix_trie import PrefixTrie

WARM_UP = 0.5  # share of the requests that only fill the cache
REQUESTS_AT_ONCE = 64
CEILING = "ceiling"


@dataclass(frozen=True, slots=True)
class HitRate:
    """One policy at one size.

    Attributes:
        policy: one of BLOCK_CACHES, or CEILING.
        capacity: blocks; of CEILING as many as there are.
        hit_tokens: prompt tokens that were cached, of the requests after the warm-up.
        total_tokens: prompt tokens of these requests.
        num_larger: requests of the whole trace whose prompt has more blocks than the cache.
    """

    policy: str
    capacity: int
    hit_tokens: int
    total_tokens: int
    num_larger: int

    @property
    def hit_rate(self) -> float:
        """Share of the tokens, 0 to 1."""
        return self.hit_tokens / self.total_tokens if self.total_tokens else 0.0

    def as_dict(self) -> dict:
        """As plain JSON."""
        return {**asdict(self), "hit_rate": self.hit_rate}


@dataclass(frozen=True, slots=True)
class HitRates:
    """What came of a trace.

    Attributes:
        block_size: tokens a block.
        num_requests, num_warm_up: requests in all, and those of the warm-up.
        num_events, num_blocks: blocks of all prompts, and different ones.
        ceiling: an unbounded cache.
        points: one for each policy and capacity, capacities in the order asked for.
    """

    block_size: int
    num_requests: int
    num_warm_up: int
    num_events: int
    num_blocks: int
    ceiling: HitRate
    points: tuple[HitRate, ...]

    def as_dict(self) -> dict:
        """As plain JSON."""
        return {
            **asdict(self),
            "ceiling": self.ceiling.as_dict(),
            "points": [point.as_dict() for point in self.points],
        }


def default_capacities(num_blocks: int, count: int = 10) -> tuple[int, ...]:
    """Powers of two, the largest of which would still not hold all of `num_blocks` blocks.

    >>> default_capacities(182_790, 3), default_capacities(1)
    ((32768, 65536, 131072), (1,))
    """
    largest = max(0, (num_blocks - 1).bit_length() - 1)
    return tuple(1 << power for power in range(max(0, largest - count + 1), largest + 1))


class HitRateStudy:
    """Every policy at every capacity, over one trace.

    >>> from pycore.hit_rate.prefix_trie import prefix_trie
    >>> from pycore.prompt import Prompt
    >>> from pycore.request import Request
    >>> prompts = [Request(i, 0, 16, 1, prompt=Prompt((i % 2,) * 16)) for i in range(6)]
    >>> study = HitRateStudy(prefix_trie(prompts), ["lru", "optimal"], [1], warm_up=0.0)
    >>> for done, total in study.run():
    ...     pass
    >>> [(point.policy, point.hit_tokens) for point in study.result().points]
    [('lru', 0), ('optimal', 32)]
    """

    def __init__(
        self, trie: PrefixTrie, policies: Sequence[str], capacities: Sequence[int], warm_up: float = WARM_UP
    ) -> None:
        """A study before its first request.

        Args:
            trie: the prompts of the trace.
            policies: of BLOCK_CACHES.
            capacities: blocks, at least 1 each.
            warm_up: share of the requests, from 0 to below 1, that fill the cache and are not counted.

        Raises:
            ValueError: a capacity or share out of range.
        """
        if not 0 <= warm_up < 1:
            raise ValueError(f"a warm-up of {warm_up} of the requests, expected 0 to below 1")
        for capacity in capacities:
            if capacity < 1:
                raise ValueError(f"a cache of {capacity} blocks, expected at least 1")
        self._trie = trie
        self._num_warm_up = int(trie.num_requests * warm_up)
        self._setups = [(policy, capacity) for capacity in capacities for policy in policies]
        self._found: list[HitRate] = []

    @property
    def started(self) -> bool:
        """Whether there is a result yet: the ceiling is measured first."""
        return bool(self._found)

    @property
    def done(self) -> bool:
        """Whether all is measured."""
        return len(self._found) == 1 + len(self._setups)

    def run(self) -> Generator[tuple[int, int], None, None]:
        """Measures; yields the requests served so far by all caches together, and how many that will be."""
        trie = self._trie
        yield from self._serve(CEILING, trie.num_nodes, Unbounded(trie))
        for policy, capacity in self._setups:
            yield from self._serve(policy, capacity, BLOCK_CACHES[policy](trie, capacity))

    def _serve(self, policy: str, capacity: int, cache: BlockCache) -> Generator[tuple[int, int], None, None]:
        trie, num_warm_up = self._trie, self._num_warm_up
        num_requests, starts = trie.num_requests, trie.starts
        before, total = num_requests * len(self._found), num_requests * (1 + len(self._setups))
        hits = 0
        for first in range(0, num_requests, REQUESTS_AT_ONCE):
            end = min(first + REQUESTS_AT_ONCE, num_requests)
            for request in range(first, end):
                found = cache.serve(request)
                if request >= num_warm_up:
                    hits += trie.tokens(request, found)
            yield before + end, total
        larger = sum(starts[i + 1] - starts[i] > capacity for i in range(num_requests))
        counted = sum(trie.prompt_lens[num_warm_up:])
        self._found.append(HitRate(policy, capacity, hits, counted, larger))

    def result(self) -> HitRates:
        """What is measured so far; see `started`."""
        trie = self._trie
        return HitRates(
            trie.block_size,
            trie.num_requests,
            self._num_warm_up,
            len(trie.nodes),
            trie.num_nodes,
            self._found[0],
            tuple(self._found[1:]),
        )
