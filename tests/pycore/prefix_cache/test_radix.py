"""The radix tree: matches to the token, splits, locks, whole leaves evicted."""

from array import array

import pytest

from pycore.prefix_cache.eviction import EVICTION, slru
from pycore.prefix_cache.radix import RadixCache
from pycore.prefix_cache.rules import MINI_SGLANG


def cache_with(*prompts: list[int], page_size: int = 1, policy: str = "lru") -> RadixCache:
    """The prompts in the cache; the value of a page is its first token."""
    cache = RadixCache(page_size, EVICTION[policy])
    for prompt in prompts:
        cache.insert(prompt, prompt[::page_size])
    cache.check()
    return cache


def evicted(cache: RadixCache, num_tokens: int) -> list[list[int]]:
    leaves = [list(leaf.tokens) for leaf in cache.evict(num_tokens)]
    cache.check()
    return leaves


def test_a_prompt_hits_its_longest_cached_prefix_and_leaves_the_rest():
    cache = cache_with([0, 1, 2, 3], [0, 1, 2, 3, 4], [9, 9, 9])
    prompt = [0, 1, 2, 3, 4, 5]
    found = cache.match(prompt)
    assert (found.num_tokens, prompt[found.num_tokens :]) == (5, [5])
    assert list(found.values) == [0, 1, 2, 3, 4]
    assert cache.match([7, 6, 5]).num_tokens == 0


def test_an_insert_that_parts_inside_an_edge_splits_it_at_that_token():
    cache = cache_with([1, 2, 3, 4, 5])
    assert cache.insert([1, 2, 3, 8, 9], [11, 12, 13, 14, 15]).num_held == 3
    columns = cache.nodes()
    assert list(zip(columns.start, columns.length, columns.values, strict=True)) == [
        (0, 3, (1, 2, 3)),
        (3, 2, (4, 5)),
        (3, 2, (14, 15)),
    ]
    assert columns.parent == (0, columns.id[0], columns.id[0])
    assert list(cache.match([1, 2, 3, 8, 9]).values) == [1, 2, 3, 14, 15]  # the caller keeps 11 to 13


def test_an_ancestor_that_loses_its_last_child_is_a_leaf_in_turn():
    cache = cache_with([1, 2, 3, 4], [1, 2, 5, 6])
    assert evicted(cache, 1) == [[3, 4]]
    assert evicted(cache, 1) == [[5, 6]]
    assert evicted(cache, 1) == [[1, 2]]
    assert evicted(cache, 1) == []


def test_a_leaf_that_was_extended_is_no_leaf_any_more():
    cache = cache_with([1, 2], [1, 2, 3], [9])
    assert evicted(cache, 1) == [[3]]
    assert evicted(cache, 3) == [[1, 2], [9]]


def test_eviction_takes_whole_leaves_and_may_overshoot():
    cache = cache_with([1, 2, 3], [4, 5, 6, 7])
    assert evicted(cache, 4) == [[1, 2, 3], [4, 5, 6, 7]]
    assert cache.total == 0


def test_evicting_nothing_evicts_nothing():
    cache = cache_with([1, 2, 3])
    assert evicted(cache, 0) == []
    assert cache.total == 3


def test_what_a_running_request_uses_stays_up_to_the_root():
    cache = cache_with([1, 2, 3, 4], [1, 2, 5], [8])
    node = cache.match([1, 2, 5]).node
    assert cache.lock(node) == 3
    assert evicted(cache, 100) == [[3, 4], [8]]
    assert (cache.evictable, cache.protected) == (0, 3)
    assert cache.unlock(node) == 3
    assert evicted(cache, 100) == [[5], [1, 2]]


def test_two_users_both_have_to_let_go():
    cache = cache_with([1, 2, 3])
    node = cache.match([1, 2, 3]).node
    assert [cache.lock(node), cache.lock(node), cache.unlock(node)] == [3, 0, 0]
    assert evicted(cache, 3) == []
    assert cache.unlock(node) == 3


def test_a_split_below_a_lock_keeps_both_halves_locked():
    cache = cache_with([1, 2, 3, 4])
    node = cache.match([1, 2, 3, 4]).node
    cache.lock(node)
    assert cache.match([1, 2, 9]).num_tokens == 2
    assert cache.nodes().users == (1, 1)
    assert evicted(cache, 4) == []
    assert cache.unlock(node) == 4
    cache.check()


def test_a_split_hands_hits_and_priority_to_the_upper_half():
    cache = RadixCache()
    for _ in range(3):
        cache.insert([1, 2, 3, 4], [1, 2, 3, 4], priority=7)
    cache.match([1, 2, 9])
    columns = cache.nodes()
    assert (columns.length, columns.hits, columns.priority) == ((2, 2), (3, 3), (7, 7))


def test_only_whole_pages_are_cached_and_found():
    cache = cache_with(list(range(10)), page_size=4)
    assert cache.total == 8
    assert list(cache.match([0, 1, 2, 3, 4, 5, 6]).values) == [0]
    assert cache.match([0, 1, 2]).num_tokens == 0
    assert cache.match([0, 1, 2, 3, 4, 5, 66, 77]).num_tokens == 4
    cache.check()


def test_pages_that_begin_alike_and_differ_are_siblings():
    cache = cache_with([1, 2, 3, 4], [1, 2, 3, 5], page_size=4)
    assert cache.num_nodes == 2
    assert cache.match([1, 2, 3, 5]).num_tokens == 4


def test_prompts_of_two_namespaces_share_nothing():
    cache = cache_with([1, 2, 3])
    assert cache.match([1, 2, 3], "adapter").num_tokens == 0
    assert cache.insert([1, 2, 4], [7, 8, 9], namespace="adapter").num_held == 0
    cache.check()
    assert list(cache.match([1, 2, 5], "adapter").values) == [7, 8]
    assert list(cache.match([1, 2, 5]).values) == [1, 2]
    cache.check()


def test_an_empty_prompt_is_at_the_root():
    cache = cache_with([1])
    assert cache.match([]).num_tokens == 0
    assert cache.lock(cache.match([]).node) == 0
    assert cache.insert([], []).num_held == 0
    cache.check()


def test_inserting_a_prompt_again_adds_nothing():
    cache = cache_with([1, 2, 3], [1, 2, 3])
    assert (cache.total, cache.num_nodes, cache.nodes().hits) == (3, 1, (2,))


def test_a_matched_prefix_of_an_array_is_the_same_as_of_a_list():
    cache = cache_with([1, 2, 3])
    assert cache.match(array("q", [1, 2, 9])).num_tokens == cache.match([1, 2, 9]).num_tokens == 2


def test_a_use_refreshes_the_path_and_the_unmatched_rest():
    cache = cache_with([1, 2, 3, 4], [5, 6])
    cache.match([1, 2])
    assert evicted(cache, 1) == [[5, 6]]


def test_the_smaller_engine_does_not_count_a_split_as_a_use():
    cache = RadixCache(rules=MINI_SGLANG)
    for prompt in ([1, 2, 3, 4], [5, 6]):
        cache.insert(prompt, prompt)
    cache.match([1, 2])
    assert evicted(cache, 1) == [[3, 4]]


def test_the_smaller_engine_refuses_to_evict_more_than_there_is():
    cache = RadixCache(rules=MINI_SGLANG)
    cache.insert([1, 2], [1, 2])
    with pytest.raises(ValueError, match="cannot evict 3 tokens: only 2 are evictable"):
        cache.evict(3)
    assert cache.total == 2


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        ("lru", [3, 2, 1]),
        ("lfu", [3, 1, 2]),
        ("fifo", [1, 2, 3]),
        ("mru", [1, 2, 3]),
        ("filo", [3, 2, 1]),
        ("priority", [2, 3, 1]),
        ("slru", [3, 2, 1]),
    ],
)
def test_each_policy_has_its_own_order(policy, order):
    cache = RadixCache(policy=EVICTION[policy])
    for token, priority in ((1, 2), (2, 0), (3, 1), (1, 2), (2, 0), (2, 0)):
        cache.insert([token], [token], priority)
    cache.match([1])
    assert [evicted(cache, 1)[0][0] for _ in order] == order


def test_the_threshold_of_the_protected_segment_can_be_set():
    cache = RadixCache(policy=slru(3))
    for token in (1, 1, 1, 2, 2):
        cache.insert([token], [token])
    assert evicted(cache, 1) == [[2]]


def test_most_recently_used_stays_right_over_many_uses():
    cache = RadixCache(policy=EVICTION["mru"])
    for token in range(5):
        cache.insert([token], [token])
    for turn in range(500):
        cache.match([turn % 5])
    cache.check()
    assert [evicted(cache, 1)[0][0] for _ in range(5)] == [4, 3, 2, 1, 0]


@pytest.mark.parametrize("policy", sorted(EVICTION))
def test_an_eviction_looks_at_few_leaves_however_many_there_are(policy):
    ranked = []
    cache = RadixCache(policy=lambda node: ranked.append(node) or EVICTION[policy](node))
    for token in range(1000):
        cache.insert([token], [token])
    for leaf in range(100):
        ranked.clear()
        cache.match([leaf])
        cache.evict(1)
        assert len(ranked) <= 2 * (leaf + 2)
    ranked.clear()
    cache.evict(800)
    assert len(ranked) <= 2 * 800


def test_a_priority_is_handed_up_the_path():
    cache = RadixCache(policy=EVICTION["priority"])
    cache.insert([1, 2, 3], [1, 2, 3], priority=1)
    cache.insert([1, 2, 4], [1, 2, 4], priority=5)
    assert cache.nodes().priority == (5, 1, 5)


@pytest.mark.parametrize("misuse", ["lock", "unlock"])
def test_an_evicted_node_can_no_longer_be_used(misuse):
    cache = cache_with([1, 2])
    node = cache.match([1, 2]).node
    cache.evict(2)
    with pytest.raises(ValueError, match="no longer cached"):
        getattr(cache, misuse)(node)


def test_a_lock_that_nobody_has_cannot_be_taken_back():
    cache = cache_with([1, 2])
    with pytest.raises(ValueError, match="nobody has locked it"):
        cache.unlock(cache.match([1, 2]).node)
    cache.check()


def test_too_few_values_change_nothing():
    cache = cache_with([1, 2], page_size=2)
    with pytest.raises(ValueError, match="2 values are needed for 5 tokens, not 1"):
        cache.insert([1, 2, 3, 4, 5], [1])
    assert cache.total == 2


def test_a_page_holds_at_least_one_token():
    with pytest.raises(ValueError, match="at least 1 token, not 0"):
        RadixCache(0)


def test_a_broken_tree_is_found():
    cache = cache_with([1, 2, 3, 4], [1, 2, 5])
    cache.root.children[1].children[5].users = 1
    with pytest.raises(AssertionError):
        cache.check()


def test_what_an_insert_for_the_same_request_has_counted_is_no_hit_again_though_it_was_evicted_meanwhile():
    cache = RadixCache()
    cache.insert([1, 2, 3], [1, 2, 3], counted=3)
    assert cache.nodes().hits == (0,)  # as in SGLang 0.5.23
    cache.insert([1, 2, 3, 4], [1, 2, 3, 4], counted=3)
    assert sorted(cache.nodes().hits) == [0, 1]


@pytest.mark.parametrize("token", [1.5, "a", None, 1 << 64])
def test_a_token_that_is_no_integer_of_64_bits_is_named_and_changes_nothing(token):
    cache = RadixCache()
    cache.insert([1, 2], [1, 2])
    for ask in (cache.match, lambda tokens: cache.insert(tokens, [1, 2])):
        with pytest.raises(ValueError, match=r"a token of a prompt is .*expected an integer of 64 bits"):
            ask([1, token])
    assert cache.total == 2
    cache.check()
