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


def hit_rates(
    trie: PrefixTrie, policies: Sequence[str], capacities: Sequence[int], warm_up: float = WARM_UP
) -> Generator[tuple[int, int], None, HitRates]:
    """Measures every policy at every capacity.

    Args:
        trie: the prompts of the trace.
        policies: of BLOCK_CACHES.
        capacities: blocks, at least 1 each.
        warm_up: share of the requests, from 0 to below 1, that fill the cache and are not counted.

    Yields:
        Requests served so far by all caches together, and how many that will be.

    Returns:
        The measurements.

    Raises:
        ValueError: a capacity, policy or share out of range.
    """
    if not 0 <= warm_up < 1:
        raise ValueError(f"a warm-up of {warm_up} of the requests, expected 0 to below 1")
    for capacity in capacities:
        if capacity < 1:
            raise ValueError(f"a cache of {capacity} blocks, expected at least 1")
    num_warm_up = int(trie.num_requests * warm_up)
    total = trie.num_requests * (1 + len(policies) * len(capacities))
    found = [(yield from _served(trie, CEILING, trie.num_nodes, Unbounded(trie), num_warm_up, 0, total))]
    for capacity in capacities:
        for policy in policies:
            cache = BLOCK_CACHES[policy](trie, capacity)
            before = trie.num_requests * len(found)
            found.append((yield from _served(trie, policy, capacity, cache, num_warm_up, before, total)))
    return HitRates(
        trie.block_size,
        trie.num_requests,
        num_warm_up,
        len(trie.nodes),
        trie.num_nodes,
        found[0],
        tuple(found[1:]),
    )


def _served(
    trie: PrefixTrie, policy: str, capacity: int, cache: BlockCache, num_warm_up: int, before: int, total: int
) -> Generator[tuple[int, int], None, HitRate]:
    hits, num_requests, starts = 0, trie.num_requests, trie.starts
    for first in range(0, num_requests, REQUESTS_AT_ONCE):
        for request in range(first, min(first + REQUESTS_AT_ONCE, num_requests)):
            found = cache.serve(request)
            if request >= num_warm_up:
                hits += trie.tokens(request, found)
        yield before + request + 1, total
    larger = sum(starts[i + 1] - starts[i] > capacity for i in range(num_requests))
    return HitRate(policy, capacity, hits, sum(trie.prompt_lens[num_warm_up:]), larger)
