"""What admissions find: counted against the memory's own statistics and against the loads."""

from array import array

import pytest

from pycore.config import MemoryConfig
from pycore.experiments.admission_run import Found, as_requests, run_admissions
from pycore.experiments.evictable_is_no_leak import EVICTABLE_IS_NO_LEAK, IDLE, SharedPool, serve
from pycore.experiments.starvation import COLD, arrivals
from pycore.workload.common_prompt import common_prompt
from pycore.workload.few_shot import Exchange


def run(num_blocks, shared, seed=5, num=10):
    load = common_prompt(seed, num, shared, (32, 48), (40, 70))
    memory = MemoryConfig(num_blocks=num_blocks, block_size=8, prefix_cache="hash_chain")
    return load, run_admissions(as_requests(load, range(num)), memory)


def test_a_large_pool_admits_each_request_once_and_at_once():
    load, found = run(200, 32)
    assert found.first == Found(sum(len(each.prompt) for each in load), 32 * 9, 10)
    assert (found.again, found.in_vain, found.preemptions) == (Found(), Found(), 0)
    assert found.hits == found.first_hits == {0: 0} | dict.fromkeys(range(1, 10), 32)


@pytest.mark.parametrize("shared", [0, 32])
def test_every_preemption_is_followed_by_another_admission(shared):
    _, found = run(24, shared)
    assert found.preemptions == found.again.times > 0
    assert sum(found.hits.values()) == found.first.found + found.again.found
    assert sum(found.first_hits.values()) == found.first.found


def test_a_pool_that_some_request_outgrows_is_refused():
    with pytest.raises(ValueError, match="8 blocks of 8 do not hold every request"):
        run(8, 0)


def test_a_stream_has_one_request_a_step_and_now_and_then_a_cold_one():
    coming = arrivals(5, 2, 60, 20)
    assert [len(now) for now in coming[1:]] == [1 + (step % 20 == 10) for step in range(1, 60)]
    heads = {each.task: tuple(each.prompt[:50]) for now in coming for each in now}
    assert heads[0] == heads[1] != heads[COLD]


def test_a_forgotten_lock_is_all_that_does_not_come_back():
    figures = EVICTABLE_IS_NO_LEAK.run({"forget": 1}).figures
    assert figures["lost"] == figures["idle_protected"] > 0 == figures["off"]


def test_a_pool_in_which_nobody_fits_idles_and_ends():
    pool = SharedPool(200, 0)
    accounts = serve(pool, [Exchange(0, array("q", range(300)), array("q", [1]))])
    assert (pool.num_served, len(accounts), accounts[-1]["free"]) == (0, IDLE, 200)
