"""Prompts served one at a time over a prefix cache, in an order of choice: the run behind two experiments."""

from array import array
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from pycore.prefix_cache.radix import RadixCache
from pycore.scheduling.queue_order import ADMISSION, PLAIN, Candidate, OrderRules
from pycore.workload.few_shot import Exchange

DEPTH_FIRST = "depth_first"  # the order for which the whole load must be known
REQUESTS_AT_ONCE = 25


@dataclass(frozen=True, slots=True)
class Served:
    """What came of a load.

    Attributes:
        prompt_tokens: in all prompts.
        hit_tokens: of those, cached when their request was served.
        waits: steps that each request spent in the window, in the order in which they were served.
    """

    prompt_tokens: int
    hit_tokens: int
    waits: tuple[int, ...]

    @property
    def hit_rate(self) -> float:
        """Share of the prompt tokens that were cached, 0 to 1."""
        return self.hit_tokens / self.prompt_tokens

    @property
    def computed(self) -> int:
        """Prompt tokens that were not."""
        return self.prompt_tokens - self.hit_tokens


def planned(load: Sequence[Exchange]) -> RadixCache:
    """The tree of all prompts: its total is the number of distinct prefix tokens."""
    plan = RadixCache()
    for each in load:
        plan.insert(each.prompt, each.prompt)
    return plan


def depth_first(load: Sequence[Exchange]) -> list[Exchange]:
    """The load in depth-first order of the tree of its prompts, subtrees with more requests first."""
    queue = [Candidate(each.prompt) for each in load]
    order = ADMISSION["dfs_weight"](queue, planned(load), PLAIN)
    return [load[i] for i in order.positions]


def serve(
    load: Sequence[Exchange],
    order: str,
    capacity: int,
    window: int,
    rules: OrderRules = PLAIN,
    before: int = 0,
    total: int = 0,
) -> Generator[tuple[int, int], None, Served]:
    """Serves a load that was submitted at once, one request a step.

    A step: the window fills up, the order chooses, the prompt is looked up, prompt and output are cached,
    and leaves are evicted, least recently used first, until the cache fits its capacity again.

    Args:
        load: in order of submission.
        order: one of ADMISSION, or DEPTH_FIRST, which sees the whole load at once.
        capacity: tokens that the cache holds between two steps.
        window: requests among which the order can choose.
        rules: of the order.
        before, total: for telling progress: requests served by runs before, and by all.

    Yields:
        Requests served so far, and `total`.

    Returns:
        What came of it.
    """
    if order == DEPTH_FIRST:
        load, order, window = depth_first(load), "fcfs", 1
    choose = ADMISSION[order]
    cache = RadixCache()
    slots = array("q", bytes(8 * max(each.total_len for each in load)))  # which slot it is does not matter
    in_window: list[tuple[Exchange, int]] = []  # (request, step in which it came into the window)
    arriving = iter(load)
    hits, waits = 0, []
    for step in range(len(load)):
        while len(in_window) < window and (each := next(arriving, None)) is not None:
            in_window.append((each, step))
        queue = [Candidate(each.prompt, waited=step - since) for each, since in in_window]
        each, since = in_window.pop(choose(queue, cache, rules).positions[0])
        waits.append(step - since)
        hits += cache.match(each.prompt[:-1]).num_tokens
        cache.insert(each.prompt + each.output, slots)
        cache.evict(cache.total - capacity)
        if (step + 1) % REQUESTS_AT_ONCE == 0 or step + 1 == len(load):
            yield before + step + 1, total
    return Served(sum(len(each.prompt) for each in load), hits, tuple(waits))
