"""Prompts over blocks, held against a model that compares prompts token by token."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from pycore.experiments.block_run import BlockServer, serve_all
from pycore.experiments.middle_of_chain import BLOCK, HeadFirst, PlainLru, out_of_reach, parents_of, questions
from pycore.experiments.prefix_run import PrefixServer
from pycore.workload.common_prompt import common_prompt
from pycore.workload.few_shot import Exchange

LOADS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=14), min_size=1, max_size=10).map(
    lambda prompts: [
        Exchange(0, array("q", prompt), array("q", [100 + i] * (i % 3 + 1)))
        for i, prompt in enumerate(prompts)
    ]
)


def found_by_comparing(load, size):
    """Hits of each request if nothing is ever forgotten."""
    computed, hits = [], []
    for each in load:
        usable = list(each.prompt[:-1])
        longest = 0
        for before in computed:
            pairs = zip(usable, before, strict=False)
            longest = max(
                longest,
                next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(usable), len(before))) // size,
            )
        hits.append(longest * size)
        computed.append([*each.prompt, *each.output[:-1]])
    return hits


@given(load=LOADS, size=st.sampled_from([1, 2, 4]))
def test_a_pool_that_never_evicts_finds_what_comparing_finds(load, size):
    server = serve_all(BlockServer(400, size), load)
    server.memory.check()
    assert server.hit_lens == found_by_comparing(load, size)
    assert server.pool.num_evicted == 0


@given(load=LOADS)
def test_a_tree_finds_the_same_as_blocks_of_one_token(load):
    tree = PrefixServer("fcfs", 10_000, max(each.total_len for each in load))
    for step, each in enumerate(load):
        tree.submit(each, step)
        tree.serve(step)
    assert list(tree.served().hit_lens) == serve_all(BlockServer(400, 1), load).hit_lens


@given(load=LOADS, num_blocks=st.integers(4, 12), uncached_first=st.booleans())
def test_nothing_useful_goes_before_something_useless_if_that_is_put_in_front(
    load, num_blocks, uncached_first
):
    server = serve_all(BlockServer(num_blocks, 4, uncached_first=uncached_first), load)
    server.memory.check()
    assert 0 <= server.pool.num_spared <= server.pool.num_evicted
    assert not uncached_first or server.pool.num_spared == 0


def test_a_request_larger_than_the_pool_is_counted_and_changes_nothing():
    server = BlockServer(2, 4)
    assert server.serve(Exchange(0, array("q", range(9)), array("q", [1]))) == 0
    assert (server.num_rejected, server.prompt_lens, server.pool.num_free) == (1, [], 2)


@given(num_blocks=st.integers(40, 90), seed=st.integers(0, 20))
def test_out_of_reach_is_what_no_look_up_comes_to(num_blocks, seed):
    load = questions(seed, 2, 320, 3)
    parents = parents_of(load)
    server = BlockServer(num_blocks, BLOCK, memory=HeadFirst)
    for each in load:
        server.serve(each)
        chain = server.pool.chain
        reached = set()
        for key in parents:
            path = [key]
            while (parent := parents[path[0]]) is not None:
                path.insert(0, parent)
            reached.update(chain.look_up(path))
        assert out_of_reach(chain, parents) == len(set(chain.blocks()) - reached)


def test_a_plain_list_that_never_evicts_finds_what_blocks_find():
    load = common_prompt(5, 10, 50, (3, 40), (2, 9), 4)
    plain = PlainLru(1000)
    for each in load:
        plain.serve(each)
    assert plain.hit_tokens == plain.any_tokens == serve_all(BlockServer(1000, BLOCK), load).hit_tokens > 0
