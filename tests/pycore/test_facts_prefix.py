"""Prefix reuse by hashed blocks, held to its sources (facts R1, R9)."""

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import EventLog, NullLog, PrefixHit
from pycore.memory.caching_pool import CachingBlockPool
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prefix_cache.prefix_stats import PrefixStats
from pycore.prefix_cache.radix import RadixCache
from pycore.prompt import Prompt
from pycore.request import Request, Sequence
from pycore.rng import Rng

# R9: 12 requests with a common prompt of 30 tokens, each with an own ending.
PROMPTS = [(*range(30), *(1_000 * (id + 1) + i for i in range(3 + id % 4))) for id in range(12)]


def hit_rate(block_size: int) -> float:
    """Share of the prompt tokens that need not be computed, in a pool where all fit."""
    config = EngineConfig(MemoryConfig(num_blocks=1_024, block_size=block_size, prefix_cache="hash_chain"))
    requests = [
        Request(id, id * config.step_ns, len(tokens), 4, prompt=Prompt(tokens))
        for id, tokens in enumerate(PROMPTS)
    ]
    engine = build_engine(config, requests, EventLog())
    while not engine.done:
        engine.step()
        engine.check()
    return engine.allocator.stats.hits / engine.allocator.stats.queries


def radix_hit_rate() -> float:
    tree, hits = RadixCache(), 0
    for tokens in PROMPTS:
        hits += tree.match(tokens).num_tokens
        tree.insert(tokens, range(len(tokens)))
    return hits / sum(map(len, PROMPTS))


def test_a_block_hit_is_a_whole_prefix_of_full_blocks():
    """R1: h_j = hash(h_{j−1}, tokens of block j)."""
    chain, keys = HashChain(4, blake2b_key), []
    tokens = (7, 7, 7, 7, 8, 8, 8, 8, 9, 9)
    chain.extend(keys, tokens, Prompt(tokens))
    parent = blake2b_key(None, tokens[:4], None)
    assert keys == [parent, blake2b_key(parent, tokens[4:8], None)]


def test_hits_fall_as_the_block_grows_and_the_tree_equals_blocks_of_one_token():
    """R9: 78.6 %, 74.6 % and 61.0 % for blocks of 1, 4 and 16 tokens there; the shape is asserted."""
    rates = [hit_rate(size) for size in (1, 4, 16)]
    assert rates == sorted(rates, reverse=True)
    assert len(set(rates)) == 3
    assert rates[0] == radix_hit_rate()
    assert 0.7 < rates[0] < 0.85
    assert 0.4 < rates[2] < rates[1] < rates[0]


def test_hit_tokens_of_the_shared_load_are_those_of_all_engines():
    """2,000 prompts of 700 tokens, 600 of them shared in 8 groups, blocks of 16: 1,179,264 of 1,400,000."""
    rng = Rng(1)
    heads = [[rng.randrange(32_000) for _ in range(600)] for _ in range(8)]
    pool = CachingBlockPool(100_000, HashChain(16, blake2b_key))
    memory = PrefixCachingAllocator(pool, NullLog())
    for id in range(2_000):
        tokens = (*heads[id % 8], *(rng.randrange(32_000) for _ in range(100)))
        seq = Sequence(Request(id, 0, 700, 1, prompt=Prompt(tokens)))
        seq.num_computed = memory.match_prefix(seq)
        assert memory.allocate_slots(seq, seq.num_uncomputed)
        memory.free(seq)
    assert memory.stats == PrefixStats(2_000, 1_400_000, 1_179_264)


def test_equal_prompts_of_one_step_share_what_the_first_of_them_computes():
    tokens = tuple(range(13))
    requests = [Request(id, 0, 13, 2, prompt=Prompt(tokens)) for id in range(3)]
    config = EngineConfig(MemoryConfig(block_size=4, prefix_cache="hash_chain"))
    engine = build_engine(config, requests, EventLog())
    engine.step()
    hits = [event for event in engine.log.drain() if isinstance(event, PrefixHit)]
    assert hits == [PrefixHit(1, (0, 1, 2), 12), PrefixHit(2, (0, 1, 2), 12)]
