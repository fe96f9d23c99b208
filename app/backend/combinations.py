"""Which settings go together in an engine, and what is used where they do not."""

from collections.abc import Iterable, Mapping

from pycore.scheduling.queue_order import CACHE_AWARE
from pycore.scheduling.rules import ALL_QUEUES, RULES

Value = int | float | str

# The engine's prefix caches as the user calls them → as the configuration does.
CACHES = {"none": "none", "hash": "hash_chain", "hash_chain": "hash_chain", "radix": "radix"}

# Orders of the queue that can do with each.
_SEEING = {
    "none": (),
    "hash_chain": [each for each in CACHE_AWARE if each != "dfs_weight"],
    "radix": CACHE_AWARE,
}


def combinations() -> dict[str, dict]:
    """For a form: what each of the rules allows, and which orders of the queue go with each cache."""
    return {
        "rules": {
            name: {
                "caches": [cache for cache in CACHES if CACHES[cache] in rules.caches],
                "queues": rules.queues,
                "budget": rules.chunked,
                "recovery": rules.groups_swap is None,
                "swaps": rules.groups_swap is True,
            }
            for name, rules in RULES.items()
        },
        "blind": [queue for queue in ALL_QUEUES if queue not in CACHE_AWARE],
        "seeing": _SEEING,
    }


def reconciled(
    values: Mapping[str, Value], caches: Iterable[str]
) -> tuple[dict[str, Value], dict[str, tuple[Value, ...]]]:
    """Settings with which an engine can be built.

    Mode and rules come first; the cache gives way to them, and the order of the queue to the cache.

    Args:
        values: each allowed by itself; a kind of request may lack some of them.
        caches: keys of CACHES that may be used, the one that reuses most last.

    Returns:
        The settings, and by key those that had to change: what they might be, the one that is used first.
    """
    used, changed = dict(values), {}

    def allow(key: str, allowed: Iterable[Value]) -> None:
        allowed = tuple(allowed)
        if key in used and used[key] not in allowed:
            used[key] = allowed[0]
            changed[key] = allowed

    paged = used.get("mode", "paged") == "paged"
    allow("rules", [name for name, each in RULES.items() if paged or each.contiguous])
    rules = RULES[used.get("rules", "classic")]
    fitting = [each for each in caches if each == "none" or (paged and CACHES[each] in rules.caches)]
    allow("cache", reversed(fitting))
    seeing = _SEEING[CACHES[used.get("cache", "none")]]
    allow("queue", [queue for queue in rules.queues if queue not in CACHE_AWARE or queue in seeing])
    if "rules" in used and not rules.chunked:
        allow("budget", [0])
    if rules.null_block and not used.get("hold") and used.get("blocks") == 1:
        allow("blocks", [2])
    return used, changed
