"""Paged memory over a radix tree: what joins it and when, who keeps it, and what pictures are told."""

import pytest

from pycore.events import (
    BlocksAllocated,
    BlocksEvicted,
    BlocksFreed,
    DuplicatesFreed,
    EventLog,
    NodeSplit,
    PrefixCached,
    PrefixHit,
)
from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import Ascending
from pycore.memory.radix_caching import RadixCachingAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.memory.tree_pool import TreePool
from pycore.memory.waste import account
from pycore.prefix_cache.radix import RadixCache
from pycore.prompt import Media, Prompt
from pycore.request import Request, Sequence, Status


def memory_of(num_blocks: int, page_size: int = 1, log: EventLog | None = None, **options):
    pool = TreePool(num_blocks, RadixCache(page_size), Ascending(range(num_blocks)))
    return RadixCachingAllocator(pool, log or EventLog(), **options)


def sequence(id: int, tokens, output: int = 20, num_seqs: int = 1, **prompt) -> Sequence:
    decoding = "parallel" if num_seqs > 1 else "plain"
    said = Prompt(tuple(tokens), **prompt)
    return Sequence(Request(id, 0, len(said.tokens), output, num_seqs, decoding, prompt=said))


def start(memory: RadixCachingAllocator, seq: Sequence) -> int:
    """Admits a sequence and makes room for all it has; the tokens that were found."""
    seq.num_computed = found = memory.match_prefix(seq)
    assert memory.allocate_slots(seq, seq.num_uncomputed)
    return found


def computed(memory: RadixCachingAllocator, seq: Sequence) -> None:
    seq.num_computed = seq.num_tokens
    memory.commit([seq])
    memory.check()


def run(memory: RadixCachingAllocator, seq: Sequence, *generated: int) -> int:
    """Admits and computes all that the sequence has, and then what it generates; the tokens found."""
    found = start(memory, seq)
    computed(memory, seq)
    for token in generated:
        seq.tokens.append(token)
        seq.num_tokens += 1
        assert memory.allocate_slots(seq, 1)
        computed(memory, seq)
    return found


def finish(memory: RadixCachingAllocator, seq: Sequence) -> None:
    seq.status = Status.FINISHED
    seq.group.remove(seq)
    memory.free(seq)
    memory.check()


def test_a_prompt_is_found_to_the_token_while_it_runs_and_after():
    memory = memory_of(32)
    run(memory, first := sequence(0, range(10)))
    assert run(memory, second := sequence(1, [*range(7), 50, 51])) == 7
    assert memory.block_table(second)[:7] == memory.block_table(first)[:7]
    finish(memory, first)
    assert run(memory, sequence(2, range(9))) == 8  # but for the last token, which must be computed


def test_pages_are_found_whole_or_not_at_all():
    memory = memory_of(16, page_size=4)
    run(memory, sequence(0, range(10)))
    assert run(memory, sequence(1, [*range(7), 50, 51])) == 4


def test_what_was_generated_joins_the_tree_when_its_sequence_has_finished():
    memory = memory_of(32)
    run(memory, first := sequence(0, range(5)), 70, 71)
    turn = [*range(5), 70, 71, 9]
    assert memory.find(sequence(1, turn))[0] == 5
    finish(memory, first)
    assert memory.find(sequence(2, turn)) == (7, 7)


def test_what_a_preempted_sequence_generated_does_not():
    memory = memory_of(32)
    run(memory, seq := sequence(0, range(5)), 70, 71)
    memory.free(seq)
    memory.check()
    assert memory.find(sequence(1, [*range(5), 70, 71, 9])) == (5, 5)
    assert (memory.num_cached, memory.num_free) == (5, 32)


def test_a_prompt_in_pieces_joins_the_tree_piece_by_piece():
    memory = memory_of(32)
    seq = sequence(0, range(10))
    seq.num_computed = memory.match_prefix(seq)
    for piece in (4, 6):
        assert memory.allocate_slots(seq, piece)
        seq.num_computed += piece
        memory.commit([seq])
        memory.check()
        assert memory.find(sequence(1, [*range(10), 99]))[0] == seq.num_computed
    assert set(memory.pool.tree.nodes().hits) == {1}  # of each piece, however many pieces there were


def test_of_two_that_compute_the_same_one_gives_its_blocks_back():
    log = EventLog()
    memory = memory_of(32, log=log)
    first, second = sequence(0, range(6)), sequence(1, [*range(6), 7])
    assert (start(memory, first), start(memory, second)) == (0, 0)
    computed(memory, first)
    log.drain()
    memory.commit([second])  # nothing is computed yet
    second.num_computed = second.num_tokens
    memory.commit([second])
    memory.check()
    assert memory.block_table(second) == (*memory.block_table(first), 12)
    assert log.drain() == (PrefixCached(1, (12,), 2, 1, 6), DuplicatesFreed(1, (6, 7, 8, 9, 10, 11), 25))


def test_room_is_asked_for_new_pages_and_for_found_ones_that_nobody_holds():
    memory = memory_of(16)
    run(memory, first := sequence(0, range(12)))
    newcomer = sequence(1, range(16))
    assert memory.slots_to_admit([newcomer]) == 4
    assert memory.slots_to_admit([newcomer], budget=3) == 3
    finish(memory, first)
    assert memory.slots_to_admit([newcomer]) == 16
    assert memory.can_admit([newcomer], 0)
    assert not memory.can_admit([newcomer], 1)


def test_asking_leaves_the_tree_as_it_is():
    memory = memory_of(16)
    run(memory, first := sequence(0, range(8)))
    finish(memory, first)
    before = memory.pool.tree.nodes()
    memory.can_admit([sequence(1, [0, 1, 2, 50])], 0)
    assert memory.pool.tree.nodes() == before


def test_whole_leaves_are_evicted_the_least_recently_used_first_and_a_running_prompt_never():
    log = EventLog()
    memory = memory_of(12, log=log)
    for id, tokens in enumerate((range(4), range(20, 24))):
        run(memory, seq := sequence(id, tokens))
        finish(memory, seq)
    run(memory, sequence(2, [*range(4), 9]))  # uses and locks the first
    log.drain()
    run(memory, sequence(3, range(30, 34)))
    assert log.drain()[0] == BlocksEvicted(3, (4, 5, 6, 7), (2,))
    assert not memory.can_admit([sequence(4, range(40, 44))], 0)
    assert memory.find(sequence(5, [*range(4), 5])) == (4, 0)


def test_events_tell_of_a_hit_a_split_and_what_joins_the_tree():
    log = EventLog()
    memory = memory_of(16, log=log)
    run(memory, first := sequence(0, range(6)))
    assert log.drain() == (
        BlocksAllocated(0, tuple(range(6)), None, 10),
        PrefixCached(0, tuple(range(6)), 1, 0, 0),
    )
    finish(memory, first)
    assert log.drain() == (BlocksFreed(0, tuple(range(6)), 10),)
    run(memory, sequence(1, [0, 1, 2, 7]))
    assert log.drain() == (
        NodeSplit(1, 1, 2, 3),
        PrefixHit(1, (0, 1, 2), 3),
        BlocksAllocated(1, (6,), 2, 9),
        PrefixCached(1, (6,), 3, 2, 3),
    )


def test_an_insert_that_parts_within_a_node_tells_of_the_split_before_the_leaf():
    log = EventLog()
    memory = memory_of(16, log=log)
    first, second = sequence(0, range(6)), sequence(1, [0, 1, 2, 7])
    start(memory, first), start(memory, second)
    computed(memory, first)
    log.drain()
    computed(memory, second)
    assert [type(event) for event in log.drain()] == [NodeSplit, PrefixCached, DuplicatesFreed]


def test_cached_and_unused_pages_are_a_state_of_their_own_in_map_and_account():
    memory = memory_of(32)
    run(memory, first := sequence(0, range(10)))
    finish(memory, first)
    run(memory, sequence(1, range(100, 105), output=4))
    found = memory.memory_map()
    assert sorted(found.cached) == list(range(10))
    assert (found.used, found.holes) == (5, (17,))
    waste = account(found, 0)
    assert (waste.cached, waste.usable, waste.real, waste.capacity) == (10, 17, 5, 32)
    assert memory.waste(0) == waste
    assert (memory.num_free, memory.num_cached, memory.usage) == (27, 10, 5 / 32)


def test_cached_pages_are_told_in_the_order_in_which_they_will_go():
    memory = memory_of(10)
    for id, tokens in enumerate(([1, 2, 3], [1, 2, 4], [8, 9])):
        run(memory, seq := sequence(id, tokens))
        finish(memory, seq)
    order = memory.pool.cached()
    gone = []
    while memory.pool.num_cached:
        memory.pool.evicted.clear()
        assert memory.pool.allocate(memory.pool.num_free - memory.pool.num_cached + 1)
        gone += memory.pool.evicted
    assert gone == order


@pytest.mark.parametrize("apart", [{"salt": "a"}, {"adapter": "a"}, {"media": (Media(0, 3, "cat"),)}])
def test_equal_tokens_that_mean_something_else_share_nothing(apart):
    memory = memory_of(32)
    run(memory, sequence(0, range(6)))
    assert run(memory, sequence(1, range(6), **apart)) == 0
    assert run(memory, sequence(2, range(6), **apart)) == 5


def test_what_stands_before_a_picture_is_shared():
    memory = memory_of(32)
    run(memory, sequence(0, range(8), media=(Media(4, 2, "cat"),)))
    assert run(memory, sequence(1, range(8), media=(Media(4, 2, "dog"),))) == 4


def test_a_prompt_that_says_nothing_finds_nothing_and_is_found_by_nobody():
    memory = memory_of(32)
    run(memory, silent := Sequence(Request(0, 0, 8, 4)))
    assert run(memory, sequence(1, range(8))) == 0
    finish(memory, silent)
    assert memory.num_free == 24


def test_samples_of_one_prompt_share_its_pages_and_what_one_leaves_the_other_keeps():
    memory = memory_of(24, page_size=2)
    run(memory, parent := sequence(0, range(5), num_seqs=2), 70, 71)
    child = parent.fork(1, 1)
    memory.fork(parent, child)
    memory.check()
    for seq, token in ((parent, 80), (child, 90)):
        seq.tokens.append(token)
        seq.num_tokens += 1
        assert memory.allocate_slots(seq, 1)
        computed(memory, seq)
    finish(memory, parent)
    assert memory.find(sequence(2, [*range(5), 70, 71, 80, 1])) == (8, 2)  # the child holds the first six
    finish(memory, child)
    assert memory.find(sequence(3, [*range(5), 70, 71, 90, 1]))[0] == 8


def test_a_swapped_group_leaves_its_prompt_cached_and_comes_back_in_blocks_of_its_own():
    space = SwapSpace(BlockPool(16, Ascending(range(16))))
    memory = memory_of(16, swap_space=space)
    run(memory, seq := sequence(0, range(6)), 70)
    assert memory.swap_out([seq]) == 7
    memory.check()
    assert memory.num_cached == 6
    assert memory.swap_in([seq]) == 7
    memory.check()
    finish(memory, seq)
    assert memory.num_cached == 7  # those that were there stayed, its copies of them are free


def test_reset_forgets_all_unless_somebody_holds_a_block():
    memory = memory_of(8)
    run(memory, seq := sequence(0, range(8)))
    assert not memory.reset()
    finish(memory, seq)
    assert memory.reset()
    memory.check()
    assert (memory.num_cached, memory.num_free, memory.find(sequence(1, range(9)))) == (0, 8, (0, 0))


def test_check_finds_a_page_that_somebody_holds_and_nobody_has_locked():
    memory = memory_of(8)
    run(memory, seq := sequence(0, range(4)))
    memory.pool.tree.unlock(memory._paths[seq.id].end)
    with pytest.raises(AssertionError, match="is not the blocks of count 0"):
        memory.check()
