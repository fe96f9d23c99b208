"""Memory that only counts its blocks says what memory that names them says."""

from hypothesis import given
from hypothesis import strategies as st

from pycore.events import NullLog
from pycore.memory.block_pool import BlockPool
from pycore.memory.counted import CountedAllocator
from pycore.memory.free_list import Ascending
from pycore.memory.paged import PagedAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.request import Request, Sequence, Status
from tests.pycore.build import decode, prefill

LENGTHS = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=6)


def memories(num_blocks: int, block_size: int) -> list[PagedAllocator]:
    def pool(size: int) -> BlockPool:
        return BlockPool(size, Ascending(range(size)))

    return [
        kind(pool(num_blocks), block_size, NullLog(), null_block=True, swap_space=SwapSpace(pool(20)))
        for kind in (PagedAllocator, CountedAllocator)
    ]


@given(
    num_blocks=st.integers(2, 30),
    block_size=st.integers(1, 5),
    lengths=LENGTHS,
    actions=st.lists(
        st.tuples(st.sampled_from(["decode", "free", "swap", "fork", "look"]), st.integers(0, 9)), max_size=30
    ),
)
def test_counting_and_naming_agree_on_all_but_the_numbers(num_blocks, block_size, lengths, actions):
    told = []
    for memory in memories(num_blocks, block_size):
        said: list = []
        running, swapped, num_forked = [], [], 0
        for id, (prompt, output) in enumerate(lengths):
            seq = Sequence(Request(id, 0, prompt, output, 2, "parallel"))
            said.append((memory.slots_to_admit(seq.group), memory.can_admit(seq.group, block_size)))
            if prefill(memory, seq):
                running.append(seq)
        for action, which in actions:
            if action == "swap" and swapped and memory.can_swap_in(swapped[0].group, 0):
                said.append(memory.swap_in(swapped[0].group))
                running.append(swapped.pop(0))
            if not running:
                break
            seq = running[which % len(running)]
            if action == "decode" and seq.num_tokens < seq.total_len:
                said.append(decode(memory, seq))
            elif action == "free":
                running.remove(seq)
                seq.group.remove(seq)
                memory.free(seq)
            elif action == "swap" and len(seq.group) == 1 and memory.swap_out(seq.group):
                running.remove(seq)
                seq.status = Status.SWAPPED
                swapped.append(seq)
            elif action == "fork" and len(seq.group) == 1:
                num_forked += 1
                child = seq.fork(1000 + num_forked, 1)
                memory.fork(seq, child)
                running.append(child)
            elif action == "look":
                said.append(len(memory.block_table(seq)))
            said.append((memory.num_free, memory.waste(0)))
        memory.check()
        map_ = memory.memory_map()
        said.append((map_.seqs, map_.tokens, map_.held, map_.used, map_.holes))
        told.append(said)
    assert told[0] == told[1]


def test_a_block_has_no_number_until_somebody_asks_for_it():
    memory = memories(8, 4)[1]
    seq = Sequence(Request(0, 0, 9, 3))
    assert prefill(memory, seq)
    assert (memory.num_free, memory.pool.num_owed) == (16, 3)
    assert sorted(memory.block_table(seq)) == [1, 2, 3]
    assert (memory.num_free, memory.pool.num_owed) == (16, 0)
    memory.free(seq)
    assert memory.num_free == 28
    memory.check()


@given(
    block_size=st.integers(1, 5),
    lengths=LENGTHS,
    steps=st.lists(st.integers(1, 12), min_size=1, max_size=6),
    num_blocks=st.integers(6, 60),
)
def test_tables_that_are_counted_together_grow_like_each_by_itself(block_size, lengths, steps, num_blocks):
    each, together = memories(num_blocks, block_size)
    seqs = {
        memory: [Sequence(Request(id, 0, *both)) for id, both in enumerate(lengths)]
        for memory in (each, together)
    }
    admitted = [
        all(prefill(memory, seqs[memory][i]) for memory in (each, together)) for i in range(len(lengths))
    ]
    for memory in (each, together):
        seqs[memory] = [
            seq
            for seq, fits in zip(seqs[memory], admitted, strict=True)
            if fits and seq.request.output_len > 1
        ]
    for seq in seqs[together]:
        assert together.steady.join(seq)
    for num in steps:
        left = min([seq.request.kv_len - seq.num_tokens for seq in seqs[each]], default=0)
        if not left:
            break
        grown = together.steady.take(min(num, left))
        before = each.num_free
        taken = []
        for _ in range(len(grown)):
            assert all(decode(each, seq) for seq in seqs[each])
            taken.append((before - each.num_free) // block_size)
            before = each.num_free
        assert grown == taken
        together.steady.advance(len(grown))
        assert (together.num_free, together.waste(0)) == (each.num_free, each.waste(0))
        if len(grown) < min(num, left):  # the next step lacks a block
            wanted = sum(each.rooms([seq])[0] == 0 for seq in seqs[each])
            assert wanted * block_size > each.num_free
            break
    together.steady.settle(0)
    assert sorted(together.memory_map().held) == sorted(each.memory_map().held)
    assert sorted(together.memory_map().tokens) == sorted(each.memory_map().tokens)
