"""In which order waiting requests are admitted: plain functions in a dict, over what is cached of them.

Each takes the waiting requests in the order of the queue and returns an Order. Where an order looks prompts
up in the cache, the look-up counts as a use of the prefix that is found, as in SGLang.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from pycore.prefix_cache.node import Node
from pycore.prefix_cache.prefix_cache import Match, PrefixCache, Tokens
from pycore.prefix_cache.radix import RadixCache


@dataclass(frozen=True, slots=True)
class Candidate:
    """A waiting request, as an order sees it.

    Attributes:
        tokens: prompt, and what was generated before a preemption.
        max_new: the most tokens that it may still generate.
        priority: higher goes first.
        arrival: when it came, in any unit; only compared.
        waited: how long it has waited, in the unit of `OrderRules.ageing` and `.longest_wait`.
        namespace: prompts of different namespaces share nothing.
        look_up: finds what is cached of it; None: the order looks into the cache itself.
    """

    tokens: Tokens
    max_new: int = 1
    priority: int = 0
    arrival: float = 0
    waited: int = 0
    namespace: Hashable = None
    look_up: Callable[[], Match] | None = None


@dataclass(frozen=True, slots=True)
class OrderRules:
    """The figures behind the orders; the defaults are SGLang's where it has one.

    Attributes:
        lpm_limit: with more waiting requests than that, longest prefix first does not look them up and
            leaves them as they came; None: no limit.
        in_batch_check: a request with at most so many cached tokens is compared with the requests before
            it; None: none is.
        in_batch_shared: it goes last if it shares at least so many tokens with one of those: once that one
            is computed, it will find them cached.
        by_priority: longest output first puts higher priorities before that.
        ageing: tokens of cached prefix that a unit of waiting counts for.
        longest_wait: whoever has waited so long goes first.
    """

    lpm_limit: int | None = 128
    in_batch_check: int | None = 32
    in_batch_shared: int = 32
    by_priority: bool = False
    ageing: int = 8
    longest_wait: int = 64


SGLANG = OrderRules()
PLAIN = OrderRules(lpm_limit=None, in_batch_check=None)


@dataclass(frozen=True, slots=True)
class Order:
    """Who is to be admitted first.

    Attributes:
        positions: in the queue, first to be admitted first.
        matched: by position in the queue, cached tokens of which use can be made: at most all but one, since
            the last token must be computed to have a next one; 0 where nothing was looked up.
    """

    positions: tuple[int, ...]
    matched: tuple[int, ...]


def _sorted(queue: Sequence[Candidate], key: Callable[[int], object], matched: Sequence[int] = ()) -> Order:
    return Order(tuple(sorted(range(len(queue)), key=key)), tuple(matched) or (0,) * len(queue))


def _look_up(queue: Sequence[Candidate], cache: PrefixCache | None) -> list[Match]:
    return [each.look_up() if each.look_up else cache.match(each.tokens, each.namespace) for each in queue]


def _usable(queue: Sequence[Candidate], found: Sequence[Match]) -> list[int]:
    pairs = zip(queue, found, strict=True)
    return [max(0, min(match.num_tokens, len(each.tokens) - 1)) for each, match in pairs]


def fcfs(queue: Sequence[Candidate], cache: PrefixCache | None, rules: OrderRules) -> Order:
    """First come, first served: the queue as it is."""
    return _sorted(queue, lambda i: i)


def priority(queue: Sequence[Candidate], cache: PrefixCache | None, rules: OrderRules) -> Order:
    """Higher priority first; the earlier arrival among equals."""
    return _sorted(queue, lambda i: (-queue[i].priority, queue[i].arrival))


def longest_output_first(queue: Sequence[Candidate], cache: PrefixCache | None, rules: OrderRules) -> Order:
    """The most tokens to generate first; by priority before that, if the rules say so."""
    return _sorted(queue, lambda i: (-queue[i].priority if rules.by_priority else 0, -queue[i].max_new))


def _deferred(queue: Sequence[Candidate], found: Sequence[Match], rules: OrderRules) -> list[bool]:
    """Which requests had better wait for an earlier one that shares their prefix."""
    deferred = [False] * len(queue)
    if rules.in_batch_check is None:
        return deferred
    earlier = RadixCache()
    for i, (each, match) in enumerate(zip(queue, found, strict=True)):
        if match.num_tokens <= rules.in_batch_check:
            if earlier.match(each.tokens, each.namespace).num_tokens >= rules.in_batch_shared:
                deferred[i] = True
            else:
                earlier.insert(each.tokens, range(len(each.tokens)), namespace=each.namespace)
    return deferred


def longest_prefix_first(queue: Sequence[Candidate], cache: PrefixCache | None, rules: OrderRules) -> Order:
    """The longest cached prefix first, equals as they came; requests that had better wait go last.

    No request ages: one that shares nothing can wait for ever.
    """
    if rules.lpm_limit is not None and len(queue) > rules.lpm_limit:
        return fcfs(queue, cache, rules)
    found = _look_up(queue, cache)
    usable = _usable(queue, found)
    deferred = _deferred(queue, found, rules)
    return _sorted(queue, lambda i: (deferred[i], 0 if deferred[i] else -usable[i]), usable)


def depth_first_weight(queue: Sequence[Candidate], cache: PrefixCache | None, rules: OrderRules) -> Order:
    """Depth first through the cached tree, the child with the most waiting requests below it first.

    A node's own requests come after those of its children. Only nodes on the paths of the requests are
    visited, however large the tree is.

    Raises:
        TypeError: the cache is not a tree.
    """
    found = _look_up(queue, cache)
    waiting: dict[int, list[int]] = {}  # node id → positions whose cached prefix ends there
    weight: dict[int, int] = {}  # node id → requests at and below it
    heavy: dict[int, list[Node]] = {}  # node id → its children with requests
    root = None
    for i, match in enumerate(found):
        node = match.node
        if not isinstance(node, Node):
            raise TypeError(f"depth-first order needs a tree of nodes, not {type(node).__name__}")
        waiting.setdefault(node.id, []).append(i)
        while True:
            seen = node.id in weight
            weight[node.id] = weight.get(node.id, 0) + 1
            if node.parent is None:
                root = node
                break
            if not seen:
                heavy.setdefault(node.parent.id, []).append(node)
            node = node.parent
    positions: list[int] = []
    todo = [] if root is None else [(root, False)]
    while todo:
        node, done = todo.pop()
        if done:
            positions += waiting.get(node.id, ())
            continue
        todo.append((node, True))
        children = sorted(heavy.get(node.id, ()), key=lambda child: (-weight[child.id], child.place))
        todo += [(child, False) for child in reversed(children)]
    return Order(tuple(positions), tuple(_usable(queue, found)))


def ageing(queue: Sequence[Candidate], cache: PrefixCache | None, rules: OrderRules) -> Order:
    """The largest sum of cached tokens and `rules.ageing` times the wait first: nobody waits for ever."""
    usable = _usable(queue, _look_up(queue, cache))
    return _sorted(queue, lambda i: -usable[i] - rules.ageing * queue[i].waited, usable)


def capped_wait(queue: Sequence[Candidate], cache: PrefixCache | None, rules: OrderRules) -> Order:
    """Whoever has waited `rules.longest_wait` first, as they came; the others longest prefix first."""
    usable = _usable(queue, _look_up(queue, cache))
    late = [each.waited >= rules.longest_wait for each in queue]
    return _sorted(queue, lambda i: (not late[i], 0 if late[i] else -usable[i]), usable)


ADMISSION: dict[str, Callable[[Sequence[Candidate], PrefixCache | None, OrderRules], Order]] = {
    "fcfs": fcfs,
    "lpm": longest_prefix_first,
    "dfs_weight": depth_first_weight,
    "lof": longest_output_first,
    "priority": priority,
    "ageing": ageing,
    "capped_wait": capped_wait,
}

CACHE_AWARE = ("lpm", "dfs_weight", "ageing", "capped_wait")  # those that look at what is cached
AS_THEY_CAME = ("ageing", "capped_wait")  # whose queue is one of arrival, however it was arranged before
