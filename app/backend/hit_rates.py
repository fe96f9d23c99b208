"""Hit rates of a trace that says what its prompts share, as the page and the command line show them."""

from collections.abc import Generator, Sequence

from app.backend.request_error import RequestError
from pycore.experiments.hit_rate_curve import curve_chart, curve_table
from pycore.hit_rate.hit_rate import WARM_UP, HitRates, HitRateStudy, default_capacities
from pycore.hit_rate.prefix_trie import PrefixTrie, prefix_trie
from pycore.request import Request
from pycore.workload.trace import Trace

# Beside a replay on the page: what engines do, and the best that could be done.
SHOWN_POLICIES = ("lru", "optimal")
SHOWN_SIZES = 5


def trie_of(trace: Trace, block_size: int) -> PrefixTrie:
    """The prompts of a trace as a tree; tokens are cut into blocks of `block_size`.

    Raises:
        RequestError: the trace does not say what its prompts share.
    """
    if not trace.has_prompts:
        raise RequestError.of("error.no_prompts", name=trace.name)
    return prefix_trie(trace.requests, block_size)


def study_of(
    trie: PrefixTrie, policies: Sequence[str], capacities: Sequence[int] | None, warm_up: float = WARM_UP
) -> HitRateStudy:
    """A study of a trace; powers of two for capacities where none are given."""
    return HitRateStudy(trie, policies, capacities or default_capacities(trie.num_nodes), warm_up)


def hit_rate_source(rates: HitRates) -> dict:
    """The figures, with a table and a chart of the form that experiments have."""
    return {
        **rates.as_dict(),
        "tables": [curve_table(rates).as_dict()],
        "charts": [curve_chart(rates).as_dict()],
    }


def shown_hit_rates(requests: Sequence[Request], block_size: int) -> Generator[tuple[int, int], None, dict]:
    """What the page shows beside a replay, in slices.

    Yields:
        Requests served by all caches, and how many that will be.
    """
    trie = prefix_trie(requests, block_size)
    sizes = default_capacities(trie.num_nodes, 2 * SHOWN_SIZES - 1)[::-2][::-1]
    study = study_of(trie, SHOWN_POLICIES, sizes)
    yield from study.run()
    return hit_rate_source(study.result())
