"""Which block of a chain goes first: with the head gone, the rest is cached and out of reach."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pycore.experiments.block_run import BlockServer
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import CACHE, HIT_RATE, HIT_TOKENS, Keys
from pycore.experiments.result import BLOCKS, PERCENT, TOKENS, Chart, Result, Table, percent
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Prompt
from pycore.rng import Rng
from pycore.workload.common_prompt import common_prompt
from pycore.workload.few_shot import Exchange

_KEYS = Keys("middle_of_chain")

BLOCK = 16
OWN, ANSWER = (20, 40), (20, 40)
ROUNDS = 12
SHARES = (2, 4, 5, 6, 7, 9, 12)  # eighths of the documents that fit


class HeadFirst(PrefixCachingAllocator):
    """Releases a block table in logical order, so that the head of a chain is given up before its tail."""

    def _in_order_of_release(self, blocks: list[int]) -> Iterable[int]:
        return blocks


class PlainLru:
    """A simulator's cache of block keys: each on its own, the least recently used goes first.

    Attributes:
        prompt_tokens: in all prompts.
        hit_tokens: of those, in cached blocks from the beginning on without a gap.
        any_tokens: in cached blocks, wherever they are in the prompt: what a simulator counts that forgets
            that a hit is a whole prefix.
    """

    def __init__(self, num_blocks: int) -> None:
        """Holds at most `num_blocks` keys."""
        self._num_blocks = num_blocks
        self._used: OrderedDict[bytes, None] = OrderedDict()
        self._chain = HashChain(BLOCK, blake2b_key)
        self.prompt_tokens = self.hit_tokens = self.any_tokens = 0

    def serve(self, each: Exchange) -> None:
        """Looks the prompt up and caches it with its answer."""
        prompt = Prompt(tuple(each.prompt))
        keys: list[bytes] = []
        self._chain.extend(keys, prompt.tokens + tuple(each.output[:-1]), prompt)
        asked = keys[: (len(each.prompt) - 1) // BLOCK]
        there = [key in self._used for key in asked]
        self.prompt_tokens += len(each.prompt)
        self.hit_tokens += BLOCK * (there.index(False) if False in there else len(there))
        self.any_tokens += BLOCK * sum(there)
        for key in keys:
            self._used[key] = None
            self._used.move_to_end(key)
        while len(self._used) > self._num_blocks:
            self._used.popitem(last=False)


def parents_of(load: Sequence[Exchange]) -> dict[bytes, bytes | None]:
    """The key before each key of the load; None before the first of a chain."""
    chain, parents = HashChain(BLOCK, blake2b_key), {}
    for each in load:
        prompt = Prompt(tuple(each.prompt))
        keys: list[bytes] = []
        chain.extend(keys, prompt.tokens + tuple(each.output[:-1]), prompt)
        parents |= zip(keys, [None, *keys], strict=False)
    return parents


def out_of_reach(chain: HashChain, parents: Mapping[bytes, bytes | None]) -> int:
    """Cached blocks that no look-up comes to, because one before them in their chain is gone."""
    reached: dict[bytes | None, bool] = {None: True}
    cached = dict.fromkeys(chain.keys.values())
    for key, parent in parents.items():  # a parent stands before its children
        reached[key] = key in cached and reached[parent]
    return sum(not reached[key] for key in chain.keys.values())


def questions(seed: int, documents: int, length: int, rounds: int) -> list[Exchange]:
    """In each round every document is asked one question, in a random order."""
    order = Rng(seed).fork("rounds")
    asked = [common_prompt(seed + 100 * each, rounds, length, OWN, ANSWER) for each in range(documents)]
    load = []
    for turn in range(rounds):
        numbers = list(range(documents))
        order.shuffle(numbers)
        load += [asked[number][turn] for number in numbers]
    return load


@dataclass(slots=True)
class Tally:
    """A cache and, summed over all requests, its blocks.

    Attributes:
        cache: it.
        lost: cached blocks that are out of reach.
        cached: cached blocks.
    """

    cache: BlockServer | PlainLru
    lost: int = 0
    cached: int = 0

    @property
    def hit_rate(self) -> float:
        """Share of the prompt tokens that were found, in percent."""
        return percent(self.cache.hit_tokens / self.cache.prompt_tokens)

    @property
    def lost_share(self) -> float | None:
        """Share of the cached blocks that were out of reach, in percent; None if that was not measured."""
        return percent(self.lost / self.cached) if self.cached else None


def serve(size: int, load: Sequence[Exchange], parents: Mapping[bytes, bytes | None]) -> dict[str, Tally]:
    """The load over each of the caches, of `size` blocks."""
    tallies = {
        "tail_first": Tally(BlockServer(size, BLOCK)),
        "head_first": Tally(BlockServer(size, BLOCK, memory=HeadFirst)),
        "plain_lru": Tally(PlainLru(size)),
    }
    for tally in tallies.values():
        for each in load:
            tally.cache.serve(each)
            if isinstance(tally.cache, BlockServer):
                tally.lost += out_of_reach(tally.cache.pool.chain, parents)
                tally.cached += len(tally.cache.pool.chain)
    return tallies


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves the questions over each cache, at the size asked for and at others.

    Progress counts sizes of the pool.
    """
    documents, length = settings["documents"], settings["length"]
    load = questions(settings["seed"], documents, length, ROUNDS)
    parents = parents_of(load)
    needed = documents * (length // BLOCK)  # by the documents alone
    least = -(-max(each.total_len for each in load) // BLOCK)
    sizes = tuple(max(least, needed * share // 8) for share in SHARES)
    size = max(least, needed * settings["share"] // 100)
    found: dict[int, dict[str, Tally]] = {}
    for i, each in enumerate((size, *sizes)):
        found[each] = serve(each, load, parents)
        yield i + 1, len(sizes) + 1
    caches = found[size]
    plain = caches["plain_lru"].cache
    figures = {
        "blocks": size,
        "needed": needed,
        "documents": documents,
        "requests": len(load),
        "hit_any": _any_rate(plain),
        "any_tokens": plain.any_tokens,
        "plain_tokens": plain.hit_tokens,
        "lost_tail_first": caches["tail_first"].lost,
        "lost_head_first": caches["head_first"].lost_share,
    }
    for name, tally in caches.items():
        figures[f"hit_{name}"] = tally.hit_rate
    return Result(settings, figures, (_table(caches),), (_chart(found, sizes),))


def _any_rate(cache: PlainLru) -> float:
    return percent(cache.any_tokens / cache.prompt_tokens)


def _table(caches: Mapping[str, Tally]) -> Table:
    columns = (CACHE, HIT_RATE, HIT_TOKENS, _KEYS.column("lost_share", "float", PERCENT))
    rows = [
        (_KEYS.of(f"cache.{name}"), tally.hit_rate, tally.cache.hit_tokens, tally.lost_share)
        for name, tally in caches.items()
    ]
    plain = caches["plain_lru"].cache
    rows.append((_KEYS.of("cache.any"), _any_rate(plain), plain.any_tokens, None))
    return _KEYS.table("caches", columns, rows)


def _chart(found: Mapping[int, Mapping[str, Tally]], sizes: Sequence[int]) -> Chart:
    values = {
        _KEYS.of(f"cache.{name}"): [found[size][name].hit_rate for size in sizes] for name in found[sizes[0]]
    }
    values[_KEYS.of("cache.any")] = [_any_rate(found[size]["plain_lru"].cache) for size in sizes]
    return _KEYS.chart("hit", "line", _KEYS.column("blocks", "int", BLOCKS), sizes, HIT_RATE, values)


def _tail_first_keeps_reach(result: Result) -> bool:
    figures = result.figures
    return figures["lost_tail_first"] == 0 < figures["lost_head_first"]


def _head_first_loses(result: Result) -> bool:
    figures = result.figures
    return figures["hit_head_first"] < figures["hit_tail_first"]


def _plain_lru_misses(result: Result) -> bool:
    figures = result.figures
    return figures["hit_plain_lru"] < figures["hit_tail_first"]


def _gaps_are_no_hits(result: Result) -> bool:
    return result.figures["any_tokens"] > result.figures["plain_tokens"]


MIDDLE_OF_CHAIN = Experiment(
    name="middle_of_chain",
    subject="caching",
    params=(
        Param("share", "int", 75, 10, 200, unit=PERCENT),
        Param("documents", "int", 4, 2, 8),
        Param("length", "int", 512, 32, 1024, unit=TOKENS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("three_quarters_fit", {}),
        Preset("other_seed", {"seed": 1}),
        Preset("more_documents", {"documents": 8, "length": 256, "share": 60}),
    ),
    claims=(
        Claim("tail_first_keeps_reach", "vllm_v1", _tail_first_keeps_reach),
        Claim("head_first_loses", "here", _head_first_loses),
        Claim("plain_lru_misses", "here", _plain_lru_misses),
        Claim("gaps_are_no_hits", "vllm_v1", _gaps_are_no_hits),
    ),
    measure=measure,
)
