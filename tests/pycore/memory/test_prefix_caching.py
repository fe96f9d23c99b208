"""Paged memory that finds blocks again: hits, evictions, and what pictures and figures show of them."""

import pytest

from pycore.events import BlocksAllocated, BlocksEvicted, BlocksFreed, EventLog, PrefixHit
from pycore.memory.block_pool import BlockPool
from pycore.memory.caching_pool import CachingBlockPool
from pycore.memory.free_list import Ascending
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.memory.waste import account
from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Prompt
from pycore.request import NULL_ID, Request, Sequence

SIZE = 4


def memory_of(num_blocks: int, log: EventLog | None = None, **options) -> PrefixCachingAllocator:
    pool = CachingBlockPool(num_blocks, HashChain(SIZE, blake2b_key))
    return PrefixCachingAllocator(pool, log or EventLog(), **options)


def sequence(id: int, tokens, output: int = 20, num_seqs: int = 1, **prompt) -> Sequence:
    decoding = "parallel" if num_seqs > 1 else "plain"
    said = Prompt(tuple(tokens), **prompt)
    return Sequence(Request(id, 0, len(said.tokens), output, num_seqs, decoding, prompt=said))


def run(memory: PrefixCachingAllocator, seq: Sequence) -> int:
    """Admits and computes all that the sequence has; the tokens that were found."""
    seq.num_computed = found = memory.match_prefix(seq)
    assert memory.allocate_slots(seq, seq.num_uncomputed)
    seq.num_computed = seq.num_tokens
    memory.commit([seq])
    memory.check()
    return found


def test_a_prompt_finds_what_one_before_it_computed():
    memory = memory_of(8)
    run(memory, first := sequence(0, range(10)))
    memory.free(first)
    assert run(memory, second := sequence(1, [*range(8), 50, 51])) == 8
    assert memory.block_table(second)[:2] == (0, 1)


def test_the_last_token_is_always_computed():
    memory = memory_of(8)
    run(memory, sequence(0, range(8)))
    assert run(memory, sequence(1, range(8))) == 4


def test_a_prompt_that_says_nothing_finds_nothing_and_is_found_by_nobody():
    memory = memory_of(8)
    run(memory, Sequence(Request(0, 0, 8, 4)))
    assert run(memory, sequence(1, range(8))) == 0
    assert memory.stats.requests == 1


def test_room_is_asked_for_new_blocks_and_for_found_ones_that_nobody_holds():
    memory = memory_of(5)
    run(memory, first := sequence(0, range(12)))
    newcomer = sequence(1, range(16))
    assert memory.slots_to_admit([newcomer]) == SIZE  # three blocks are in use by the first
    memory.free(first)
    assert memory.slots_to_admit([newcomer]) == 4 * SIZE
    assert memory.can_admit([newcomer], SIZE)
    assert not memory.can_admit([newcomer], 2 * SIZE)


def test_a_budget_asks_for_the_first_piece_behind_what_is_found():
    memory = memory_of(8)
    run(memory, first := sequence(0, range(8)))
    memory.free(first)
    newcomer = sequence(1, range(28))
    assert memory.slots_to_admit([newcomer], budget=3) == 3 * SIZE  # two found, one for the three tokens
    assert memory.slots_to_admit([newcomer]) == 7 * SIZE


def test_asking_does_not_change_who_is_evicted_next():
    memory = memory_of(8)
    run(memory, first := sequence(0, range(8)))
    memory.free(first)
    before = memory.pool.cached()
    memory.can_admit([sequence(1, range(9))], 0)
    memory.look_up(sequence(2, range(9)))
    assert memory.pool.cached() == before


def test_events_tell_of_a_hit_of_what_was_evicted_and_of_what_is_really_free():
    log = EventLog()
    memory = memory_of(4, log)
    run(memory, first := sequence(0, range(9)))
    memory.free(first)
    assert BlocksFreed(0, (2, 1, 0), 2) in log.drain()  # two of four hold nothing of use
    run(memory, second := sequence(1, range(9)))
    assert log.drain() == (PrefixHit(1, (0, 1), 8), BlocksAllocated(1, (2,), 1, 1))
    memory.free(second)
    log.drain()
    run(memory, sequence(2, range(100, 112)))
    assert log.drain() == (BlocksEvicted(2, (1,)), BlocksAllocated(2, (2, 3, 1), None, 0))


def test_cached_and_unused_blocks_are_a_state_of_their_own_in_map_and_account():
    memory = memory_of(8)
    run(memory, first := sequence(0, range(10)))
    memory.free(first)
    run(memory, sequence(1, range(100, 105), output=4))
    found = memory.memory_map()
    assert found.cached == (1, 0)
    assert (found.used, found.holes) == (2 * SIZE, (4 * SIZE,))
    waste = account(found, 0)
    assert (waste.cached, waste.usable, waste.real, waste.capacity) == (8, 16, 5, 32)
    assert memory.waste(0) == waste
    assert (memory.num_free, memory.num_cached) == (24, 8)


def test_usage_is_of_blocks_that_somebody_holds():
    memory = memory_of(5, null_block=True)
    run(memory, first := sequence(0, range(8)))
    assert memory.usage == 0.5
    memory.free(first)
    assert memory.usage == 0.0


def test_the_null_block_belongs_to_no_sequence_and_is_never_handed_out():
    memory = memory_of(4, null_block=True)
    assert memory.memory_map().seqs == (NULL_ID,)
    assert memory.largest_holding == 3 * SIZE
    run(memory, seq := sequence(0, range(12)))
    assert memory.block_table(seq) == (1, 2, 3)
    assert account(memory.memory_map(), 0).internal == SIZE


def test_reset_forgets_all_unless_somebody_holds_a_block():
    memory = memory_of(8)
    run(memory, seq := sequence(0, range(8)))
    assert not memory.reset()
    assert memory.look_up(sequence(1, range(9))) == [0, 1]
    memory.free(seq)
    assert memory.reset()
    assert memory.look_up(sequence(1, range(9))) == []


def test_samples_of_one_prompt_share_keyed_blocks_and_part_where_they_write():
    memory = memory_of(12)
    run(memory, parent := sequence(0, range(6), num_seqs=2))
    child = parent.fork(1, 1)
    memory.fork(parent, child)
    for seq, token in ((parent, 70), (child, 80)):
        for step in range(3):
            seq.tokens.append(token + step)
            seq.num_tokens += 1
            assert memory.allocate_slots(seq, 1)
            seq.num_computed += 1
            memory.commit([seq])
            memory.check()
    assert memory.look_up(sequence(2, [*range(6), 80, 81, 5])) == list(memory.block_table(child))[:2]
    assert memory.look_up(sequence(3, [*range(6), 70, 71, 5])) == list(memory.block_table(parent))[:2]


def test_a_swapped_group_leaves_its_blocks_cached_and_has_keys_again_when_it_is_back():
    space = SwapSpace(BlockPool(8, Ascending(range(8))))
    memory = memory_of(8, swap_space=space)
    run(memory, seq := sequence(0, range(9)))
    assert memory.swap_out([seq]) == 3
    assert memory.num_cached == 2 * SIZE
    assert memory.swap_in([seq]) == 3
    memory.check()
    seq.tokens.append(9)
    seq.num_tokens += 1
    assert memory.allocate_slots(seq, 1)
    memory.check()
    assert memory.look_up(sequence(1, range(9)))  # found, in the old blocks or the new


@pytest.mark.parametrize("preempted", [False, True])
def test_hits_of_a_preempted_request_are_counted_apart(preempted):
    memory = memory_of(8)
    run(memory, first := sequence(0, range(9)))
    memory.free(first)
    again = sequence(1, range(9))
    again.preemptions = int(preempted)
    run(memory, again)
    stats = memory.stats
    counted = {True: (stats.preempted_queries, stats.preempted_hits), False: (stats.queries - 9, stats.hits)}
    assert counted == {preempted: (9, 8), not preempted: (0, 0)}


def test_check_finds_a_block_that_lost_its_key_while_in_use():
    memory = memory_of(8)
    run(memory, sequence(0, range(8)))
    memory.pool.chain.forget(1)
    with pytest.raises(AssertionError, match="should have keys"):
        memory.check()
