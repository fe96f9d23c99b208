"""In which order waiting requests are admitted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.prefix_cache.radix import RadixCache
from pycore.scheduling.queue_order import ADMISSION, PLAIN, SGLANG, Candidate, OrderRules

PROMPTS = st.lists(st.integers(0, 2), min_size=1, max_size=8)


def cache_with(*prompts: list[int]) -> RadixCache:
    cache = RadixCache()
    for prompt in prompts:
        cache.insert(prompt, prompt)
    return cache


def positions(
    order: str, queue: list[Candidate], *cached: list[int], rules: OrderRules = SGLANG
) -> list[int]:
    return list(ADMISSION[order](queue, cache_with(*cached), rules).positions)


def prompts(*tokens: list[int]) -> list[Candidate]:
    return [Candidate(each) for each in tokens]


@pytest.mark.parametrize("order", ADMISSION)
@given(queue=st.lists(PROMPTS, max_size=6), cached=st.lists(PROMPTS, max_size=6))
def test_every_order_is_a_permutation_of_the_queue_and_leaves_the_cache_sound(order, queue, cached):
    cache = cache_with(*cached)
    size = cache.total
    found = ADMISSION[order](prompts(*queue), cache, SGLANG)
    assert sorted(found.positions) == list(range(len(queue)))
    assert all(0 <= n < len(each) for n, each in zip(found.matched, queue, strict=True))
    assert cache.total == size
    cache.check()


def test_first_come_first_served_looks_nothing_up():
    order = ADMISSION["fcfs"](prompts([1, 2], [3]), cache_with([1, 2, 3]), SGLANG)
    assert (order.positions, order.matched) == ((0, 1), (0, 0))


def test_the_longest_cached_prefix_goes_first_and_equals_stay_as_they_came():
    queue = prompts([9, 9], [1, 2, 8], [1, 2, 3, 4], [1, 2, 7])
    assert positions("lpm", queue, [1, 2, 3]) == [2, 1, 3, 0]


def test_the_last_token_is_never_a_usable_hit():
    order = ADMISSION["lpm"](prompts([1, 2, 3]), cache_with([1, 2, 3]), SGLANG)
    assert order.matched == (2,)


@pytest.mark.parametrize(("waiting", "first"), [(128, 127), (129, 0)])
def test_a_long_queue_is_not_looked_up(waiting, first):
    queue = prompts(*([i, i] for i in range(1000, 1000 + waiting - 1)), [1, 2, 3])
    assert positions("lpm", queue, [1, 2])[0] == first


def test_without_a_limit_every_queue_is_looked_up():
    queue = prompts(*([i, i] for i in range(1000, 1200)), [1, 2, 3])
    assert positions("lpm", queue, [1, 2], rules=PLAIN)[0] == 200


@pytest.mark.parametrize(("shared", "last"), [(32, 1), (31, 2)])
def test_a_request_that_shares_with_an_earlier_one_waits_for_it(shared, last):
    common = list(range(shared))
    queue = prompts([*common, 100], [*common, 101], [500, 501])
    assert positions("lpm", queue)[-1] == last
    assert positions("lpm", queue, rules=PLAIN) == [0, 1, 2]


def test_a_request_with_enough_in_the_cache_is_not_held_back():
    common = list(range(40))
    queue = prompts([*common, 100], [*common, 101], [500, 501])
    assert positions("lpm", queue, common) == [0, 1, 2]


def test_depth_first_goes_to_the_heavier_subtree_and_to_children_before_their_parent():
    cached = ([1, 2, 3], [1, 2, 4], [5, 6])
    queue = prompts([1, 2, 9], [5, 6, 9], [1, 2, 3, 9], [1, 2, 4, 9], [1, 2, 4, 8], [7])
    assert positions("dfs_weight", queue, *cached) == [3, 4, 2, 0, 1, 5]


def test_depth_first_takes_equal_subtrees_in_the_order_in_which_they_came_to_be():
    cached = ([1, 2, 3], [4, 5], [1, 2, 8])  # the split renumbers the first subtree
    assert positions("dfs_weight", prompts([4, 5, 9], [1, 2, 9]), *cached) == [1, 0]


def test_depth_first_needs_a_tree():
    class Flat:
        def match(self, tokens, namespace=None):
            return cache_with().match(tokens)._replace(node=None)

    with pytest.raises(TypeError, match="needs a tree of nodes, not NoneType"):
        ADMISSION["dfs_weight"](prompts([1]), Flat(), SGLANG)


def test_the_longest_output_goes_first_by_priority_if_asked():
    queue = [Candidate([1], 5, priority=1), Candidate([2], 50), Candidate([3], 20, priority=1)]
    assert positions("lof", queue) == [1, 2, 0]
    assert positions("lof", queue, rules=OrderRules(by_priority=True)) == [2, 0, 1]


def test_the_higher_priority_goes_first_then_the_earlier_arrival():
    queue = [Candidate([1], priority=1, arrival=3), Candidate([2], priority=5, arrival=2)]
    queue.append(Candidate([3], priority=5, arrival=1))
    assert positions("priority", queue) == [2, 1, 0]


def test_ageing_adds_the_wait_to_the_cached_tokens():
    rules = OrderRules(ageing=2)
    cold, hot = Candidate([9, 9], waited=0), Candidate([1, 2, 3, 4, 5])
    cached = [1, 2, 3, 4]
    assert positions("ageing", [cold, hot], cached, rules=rules) == [1, 0]
    assert positions("ageing", [Candidate([9, 9], waited=3), hot], cached, rules=rules) == [0, 1]


def test_whoever_has_waited_the_cap_goes_first_in_order_of_arrival():
    rules = OrderRules(longest_wait=5)
    queue = [Candidate([9], waited=4), Candidate([8, 8], waited=5), Candidate([1, 2, 3], waited=6)]
    queue.append(Candidate([1, 2, 4], waited=1))
    assert positions("capped_wait", queue, [1, 2], rules=rules) == [1, 2, 3, 0]


def test_namespaces_are_looked_up_apart():
    cache = RadixCache()
    cache.insert([1, 2, 3], [1, 2, 3], namespace="adapter")
    queue = [Candidate([1, 2, 3, 4]), Candidate([1, 2, 3, 4], namespace="adapter")]
    order = ADMISSION["lpm"](queue, cache, SGLANG)
    assert (order.positions, order.matched) == ((1, 0), (0, 3))
