"""Prompts served one at a time over a prefix cache: the run behind the experiments on order."""

from array import array
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from pycore.prefix_cache.node import Node
from pycore.prefix_cache.radix import RadixCache
from pycore.scheduling.queue_order import ADMISSION, PLAIN, Candidate, OrderRules
from pycore.workload.few_shot import Exchange

DEPTH_FIRST = "depth_first"  # the order for which the whole load must be known
REQUESTS_AT_ONCE = 25


@dataclass(frozen=True, slots=True)
class Served:
    """What came of a load, a number for each request in the order in which they were served.

    Attributes:
        tasks: task, or session, of each.
        prompt_lens: tokens of its prompt.
        hit_lens: of those, cached when it was served.
        waits: steps that it waited.
    """

    tasks: tuple[int, ...]
    prompt_lens: tuple[int, ...]
    hit_lens: tuple[int, ...]
    waits: tuple[int, ...]

    @property
    def prompt_tokens(self) -> int:
        """In all prompts."""
        return sum(self.prompt_lens)

    @property
    def hit_tokens(self) -> int:
        """Prompt tokens that were cached."""
        return sum(self.hit_lens)

    @property
    def hit_rate(self) -> float:
        """Share of the prompt tokens that were cached, 0 to 1."""
        return self.hit_tokens / self.prompt_tokens

    @property
    def computed(self) -> int:
        """Prompt tokens that were not."""
        return self.prompt_tokens - self.hit_tokens


class PrefixServer:
    """Serves one waiting request a step over a radix tree.

    The order chooses, the prompt is looked up, prompt and output are cached, and leaves are evicted, least
    recently used first, until the cache fits its capacity again.

    Attributes:
        num_visited: nodes that look-ups went through, without the root.
        num_nodes: most that the tree had after a step.
        num_evicted: tokens that were evicted.
    """

    def __init__(self, order: str, capacity: int, longest: int, rules: OrderRules = PLAIN) -> None:
        """Nothing is cached, nobody waits.

        Args:
            order: one of ADMISSION.
            capacity: tokens that the cache holds between two steps.
            longest: the most tokens of a request, prompt and output.
            rules: of the order.
        """
        self._order = order
        self._rules = rules
        self._capacity = capacity
        self._cache = RadixCache()
        self._slots = array("q", bytes(8 * longest))  # which slot it is does not matter
        self._waiting: list[tuple[Exchange, int]] = []  # (request, step in which it came)
        self._served: list[tuple[int, int, int, int]] = []  # see Served
        self.num_visited = 0
        self.num_nodes = 0
        self.num_evicted = 0

    @property
    def num_waiting(self) -> int:
        """Requests that wait."""
        return len(self._waiting)

    def submit(self, request: Exchange, step: int) -> None:
        """Puts a request at the end of the queue."""
        self._waiting.append((request, step))

    def serve(self, step: int) -> Exchange:
        """Serves one of those that wait, of whom there is one at least."""
        each, since = self._waiting.pop(self._first(step))
        # The last token of a prompt is computed in any case: the first token of the output comes of it.
        found = self._cache.match(each.prompt[:-1])
        self.num_visited += _depth(found.node)
        self._served.append((each.task, len(each.prompt), found.num_tokens, step - since))
        self._cache.insert(each.prompt + each.output, self._slots)
        before = self._cache.total
        self._cache.evict(before - self._capacity)
        self.num_evicted += before - self._cache.total
        self.num_nodes = max(self.num_nodes, self._cache.num_nodes)
        return each

    def _first(self, step: int) -> int:
        """Who is served next, by position in the queue."""
        if self._order == "fcfs":
            return 0
        queue = [Candidate(each.prompt, waited=step - since) for each, since in self._waiting]
        return ADMISSION[self._order](queue, self._cache, self._rules).positions[0]

    def served(self) -> Served:
        """What came of the requests so far, of which there is one at least."""
        return Served(*zip(*self._served, strict=True))


def _depth(node: Node) -> int:
    depth = 0
    while (node := node.parent) is not None:
        depth += 1
    return depth


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
    """Serves a load that was submitted at once, one request a step, in which the window fills up first.

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
    server = PrefixServer(order, capacity, max(each.total_len for each in load), rules)
    arriving = iter(load)
    for step in range(len(load)):
        while server.num_waiting < window and (each := next(arriving, None)) is not None:
            server.submit(each, step)
        server.serve(step)
        if (step + 1) % REQUESTS_AT_ONCE == 0 or step + 1 == len(load):
            yield before + step + 1, total
    return server.served()
