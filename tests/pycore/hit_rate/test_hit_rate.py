"""Hit rates of prefix caches over a trace: an independent program's figures, and what must hold of any."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.block_tokens import BlockTokens
from pycore.hit_rate.block_cache import BLOCK_CACHES, LeafCache
from pycore.hit_rate.hit_rate import HitRates, HitRateStudy, default_capacities
from pycore.hit_rate.prefix_trie import NoPromptsError, prefix_trie
from pycore.prefix_cache.eviction import EVICTION
from pycore.prompt import Prompt
from pycore.request import Request
from pycore.workload.trace_file import read_trace_path
from tests.shared import shared

LEAF_POLICIES = [name for name in BLOCK_CACHES if name not in ("lru", "fifo")]


def measured(*arguments) -> HitRates:
    study = HitRateStudy(*arguments)
    for _ in study.run():
        pass
    assert study.done
    return study.result()


def trie_of(*prompts: str, block_size=10, last=10):
    """A trie of prompts whose blocks are letters; the last block of each has `last` tokens."""
    requests = []
    for i, blocks in enumerate(prompts):
        length = len(blocks) * block_size - block_size + last
        tokens = BlockTokens([ord(block) for block in blocks], block_size, length)
        requests.append(Request(i, 0, length, 1, prompt=Prompt(tokens)))
    return prefix_trie(requests)


def hits(policy, capacity, *prompts):
    """Hit blocks of each request, by a fresh cache."""
    trie = trie_of(*prompts)
    cache = BLOCK_CACHES[policy](trie, capacity)
    return [cache.serve(i) for i in range(len(prompts))]


# Loads of up to 12 prompts, which are paths of a tree with two branches at every block.
loads = st.lists(st.text("ab", min_size=1, max_size=5), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def conversation():
    return prefix_trie(read_trace_path(shared("traces/mooncake_conversation.jsonl")).requests)


@pytest.fixture(scope="module")
def golden():
    path = shared("golden/prefix_hit_rates_mooncake_conversation.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("policy", ["lru", "fifo", "optimal"])
def test_hit_tokens_of_a_real_trace_are_those_of_an_independent_program(conversation, golden, policy):
    points = {point["cacheBlocks"]: point["results"][policy] for point in golden["points"]}
    found = measured(conversation, [policy], list(points))
    assert {each.capacity: (each.hit_tokens, each.total_tokens) for each in found.points} == {
        capacity: (point["hitTokens"], point["totalTokens"]) for capacity, point in points.items()
    }
    assert found.num_warm_up == golden["metadata"]["warmupRequests"]
    assert found.num_events == golden["metadata"]["eventCount"]
    assert found.num_blocks == golden["metadata"]["uniqueBlocks"]
    assert found.ceiling.hit_tokens == golden["ceiling"]["hitTokens"]


@pytest.mark.parametrize(
    ("name", "hit_rate"),
    [
        ("mooncake_conversation", 0.3736),
        ("mooncake_synthetic", 0.6512),
        ("sharegpt300_llama31_hash16", 0.0759),
    ],
)
def test_an_unbounded_cache_hits_what_the_traces_description_says(name, hit_rate):
    trie = prefix_trie(read_trace_path(shared(f"traces/{name}.jsonl")).requests)
    assert round(measured(trie, [], [], 0.0).ceiling.hit_rate, 4) == hit_rate


@given(loads, st.integers(1, 8))
def test_the_fast_lru_gives_up_what_the_tree_gives_up(load, capacity):
    trie = trie_of(*load)
    fast, tree = BLOCK_CACHES["lru"](trie, capacity), LeafCache(trie, capacity, EVICTION["lru"])
    assert [fast.serve(i) for i in range(len(load))] == [tree.serve(i) for i in range(len(load))]


@given(loads, st.integers(1, 8), st.sampled_from(LEAF_POLICIES))
def test_what_is_cached_is_a_tree_within_its_capacity(load, capacity, policy):
    cache = BLOCK_CACHES[policy](trie_of(*load), capacity)
    for i in range(len(load)):
        cache.serve(i)
        cache.check()


@given(loads, st.integers(1, 8))
def test_no_policy_beats_the_optimal_one_nor_that_the_unbounded_cache(load, capacity):
    if max(map(len, load)) > capacity:
        return  # a prompt larger than the cache is cut off where no policy has a say
    found = measured(trie_of(*load), list(BLOCK_CACHES), [capacity], 0.0)
    rates = {point.policy: point.hit_tokens for point in found.points}
    assert max(rates.values()) == rates["optimal"] <= found.ceiling.hit_tokens


@given(loads, st.sampled_from(list(BLOCK_CACHES)))
def test_a_cache_that_holds_everything_hits_the_ceiling(load, policy):
    trie = trie_of(*load)
    found = measured(trie, [policy], [trie.num_nodes], 0.0)
    assert found.points[0].hit_tokens == found.ceiling.hit_tokens


def test_only_blocks_without_a_gap_from_the_beginning_count():
    assert hits("lru", 9, "abc", "abd", "xbc", "ab") == [0, 2, 0, 2]


def test_lru_gives_up_the_end_of_a_chain_first_and_a_queue_its_beginning():
    load = ("abc", "x", "abc")
    assert hits("lru", 3, *load) == [0, 0, 2]
    assert hits("fifo", 3, *load) == [0, 0, 0]
    assert hits("leaf_fifo", 3, *load) == [0, 0, 2]


def test_mru_keeps_the_old_and_lru_the_new():
    for wanted, by_mru, by_lru in (("a", 1, 0), ("b", 0, 1)):
        assert hits("mru", 2, "a", "b", "c", wanted)[-1] == by_mru
        assert hits("lru", 2, "a", "b", "c", wanted)[-1] == by_lru


def test_slru_keeps_what_was_used_twice():
    load = ("a", "a", "b", "c", "a")
    assert hits("slru", 2, *load)[-1] == 1
    assert hits("lru", 2, *load)[-1] == 0


def test_the_optimal_cache_refuses_what_is_wanted_later_than_what_it_has():
    assert hits("optimal", 1, "a", "b", "a", "b") == [0, 0, 1, 0]


def test_a_prompt_larger_than_the_cache_is_counted_and_cut_off():
    found = measured(trie_of("abcd", "ab", "abcd"), ["lru"], [2, 4], 0.0)
    assert [point.num_larger for point in found.points] == [2, 0]
    assert [point.hit_tokens for point in found.points] == [10 + 20, 20 + 40]


def test_the_last_block_weighs_its_remainder_and_the_warm_up_is_not_counted():
    found = measured(trie_of("ab", "ab", "ab", last=3), ["lru"], [2], 0.5)
    assert (found.num_warm_up, found.points[0].hit_tokens, found.points[0].total_tokens) == (1, 26, 26)


def test_tokens_are_cut_into_full_blocks():
    prompts = [(1, 2, 3, 4, 5), (1, 2, 3, 4, 5), (1, 2, 9, 4)]
    requests = [Request(i, 0, len(p), 1, prompt=Prompt(p)) for i, p in enumerate(prompts)]
    assert measured(prefix_trie(requests, 2), ["lru"], [9], 0.0).points[0].hit_tokens == 4 + 2


def test_requests_that_do_not_say_what_they_share_are_refused():
    with pytest.raises(NoPromptsError, match="request 0 does not say"):
        prefix_trie([Request(0, 0, 4, 1)])


def test_sizes_and_shares_out_of_range_are_refused():
    trie = trie_of("ab")
    with pytest.raises(ValueError, match="a cache of 0 blocks, expected at least 1"):
        measured(trie, ["lru"], [0])
    with pytest.raises(ValueError, match="expected 0 to below 1"):
        measured(trie, ["lru"], [1], 1.0)


def test_default_capacities_end_below_what_there_is():
    for num_blocks in range(1, 70):
        capacities = default_capacities(num_blocks)
        assert 1 <= capacities[-1] <= max(1, num_blocks - 1)
        assert 2 * capacities[-1] >= num_blocks
