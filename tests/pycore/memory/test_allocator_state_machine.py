"""Any operations in any order, against the KVAllocator protocol alone, for every way to manage the pool."""

from itertools import groupby

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from pycore.events import NullLog
from pycore.memory.allocator import KVAllocator
from pycore.memory.waste import account
from pycore.request import Sequence
from tests.pycore.build import MEMORY_CHOICES, allocator, sequence, write

MAX_LEN = 24


class AllocatorMachine(RuleBasedStateMachine):
    """Sequences come, grow and go; `self.held` is what the model thinks each of them has.

    The contents of the pool are modelled slot by slot: the slots of a sequence, by the places of the memory
    map, must be its own, must stay where they are while it lives, and must be enough for its tokens.
    """

    choice: str
    sequences = Bundle("sequences")

    def __init__(self) -> None:
        super().__init__()
        self.memory: KVAllocator
        self.live: dict[int, Sequence] = {}
        self.slots: dict[int, list[int]] = {}
        self.next_id = 0

    @initialize(num_blocks=st.integers(1, 24), block_size=st.integers(1, 6))
    def empty_pool(self, num_blocks, block_size):
        self.memory = allocator(self.choice, num_blocks, block_size, MAX_LEN, NullLog())
        self.paged = self.choice.startswith("paged")
        assert self.memory.capacity == self.memory.num_free == num_blocks * block_size
        self.empty = self.memory.memory_map()

    def grow(self, seq: Sequence, new: int, keep_free: int = 0) -> bool:
        """Asks for room, holds the answer against the free counts, and writes the KV if it is yes."""
        before, free, largest = self.memory.memory_map(), self.memory.num_free, self.memory.largest_free
        wanted = self.slots_missing(seq, new)
        seq.num_tokens += new
        can = seq.id in self.live or self.memory.can_admit([seq], keep_free)
        given = can and self.memory.allocate_slots(seq, seq.num_uncomputed)
        assert given == can or seq.id in self.live, "admitted, and then refused"
        self.memory.check()
        if given:
            assert wanted <= largest
            assert self.memory.num_free == free - wanted
            write(self.memory, seq)
        else:
            assert wanted > largest or (self.paged and wanted + keep_free > free)
            assert self.memory.memory_map() == before
            assert (self.memory.num_free, self.memory.largest_free) == (free, largest)
            seq.num_tokens -= new
        return given

    def slots_missing(self, seq: Sequence, new: int) -> int:
        """Slots that must be taken so that `new` more tokens have room."""
        if seq.id not in self.live:
            probe = sequence(-1, seq.num_tokens + new, seq.request.total_len - seq.num_tokens - new)
            return self.memory.slots_to_admit([probe if self.paged else seq])
        if not self.paged:
            return 0
        size = self.memory.block_size
        return (-(-(seq.num_tokens + new) // size) - -(-seq.num_tokens // size)) * size

    @rule(
        target=sequences,
        prompt=st.integers(1, MAX_LEN - 1),
        output=st.integers(1, MAX_LEN - 1),
        keep_free=st.sampled_from([0, 0, 1, 7, 40]),
    )
    def admit(self, prompt, output, keep_free):
        seq = sequence(self.next_id, prompt, min(output, MAX_LEN - prompt))
        self.next_id += 1
        fits_at_all = self.memory.slots_needed(seq.request) <= self.memory.largest_holding
        seq.num_tokens = 0
        given = self.grow(seq, prompt, keep_free)
        if not self.live and not keep_free and fits_at_all:
            assert given, "an empty pool refused what fits"
        if not given:
            return multiple()
        self.live[seq.id] = seq
        return seq

    @rule(seq=sequences, new=st.integers(1, 9))
    def grow_by_many(self, seq, new):
        room = seq.request.kv_len - seq.num_tokens
        if room:
            self.grow(seq, min(new, room))

    @rule(seq=sequences)
    def grow_by_one(self, seq):
        if seq.num_tokens < seq.request.kv_len:
            self.grow(seq, 1)

    @rule(seq=sequences)
    def ask_again_for_room_that_is_there(self, seq):
        before = self.memory.memory_map()
        assert self.memory.allocate_slots(seq, 0)
        assert self.memory.memory_map() == before

    @rule(seq=consumes(sequences))
    def free(self, seq):
        [held] = [h for id, h in self.holdings() if id == seq.id]
        free = self.memory.num_free
        self.memory.free(seq)
        assert self.memory.num_free == free + held
        del self.live[seq.id], self.slots[seq.id]
        with pytest.raises(KeyError):
            self.memory.free(seq)

    def holdings(self) -> list[tuple[int, int]]:
        memory = self.memory.memory_map()
        return list(zip(memory.seqs, memory.held, strict=True))

    @invariant()
    def check(self):
        self.memory.check()

    @invariant()
    def the_map_is_that_of_the_live_sequences(self):
        memory = self.memory.memory_map()
        assert list(memory.seqs) == list(self.live)
        assert list(memory.tokens) == [seq.num_tokens for seq in self.live.values()]
        assert list(memory.final) == [seq.request.kv_len for seq in self.live.values()]
        assert memory.used == sum(memory.held) == memory.capacity - self.memory.num_free
        assert sum(memory.holes) == self.memory.num_free
        assert all(hole > 0 for hole in memory.holes)
        assert self.memory.largest_free == max(memory.holes, default=0)

    @invariant()
    def no_slot_has_two_owners_none_moves_and_the_rest_is_holes(self):
        memory = self.memory.memory_map()
        owners: list[int | None] = [None] * memory.capacity
        columns = zip(memory.seqs, memory.tokens, memory.held, memory.places, strict=True)
        for id, tokens, held, places in columns:
            width = memory.block_size if self.paged else held
            starts = [place * width for place in places] if self.paged else places
            slots = [slot for start in starts for slot in range(start, start + width)]
            assert len(slots) == held >= tokens
            known = self.slots.get(id, [])
            assert slots[: len(known)] == known
            self.slots[id] = slots
            for slot in slots:
                assert owners[slot] is None, f"slot {slot} is owned by r{owners[slot]} and r{id}"
                owners[slot] = id
        assert owners.count(None) == sum(memory.holes)
        if "first_fit" in self.choice:  # no two holes are adjacent: each is a whole run of free slots
            runs = [len(list(run)) for owner, run in groupby(owners) if owner is None]
            assert list(memory.holes) == runs

    @rule(demand=st.integers(0, 130))
    def account_for_every_slot(self, demand):
        waste = account(self.memory.memory_map(), demand)
        assert self.memory.waste(demand) == waste
        parts = (waste.real, waste.reserved, waste.internal, waste.external, waste.usable)
        assert min(parts) >= 0
        assert sum(parts) == self.memory.capacity
        assert waste.real == sum(seq.num_tokens for seq in self.live.values())
        if self.paged:
            assert waste.external == 0
            assert waste.reserved + waste.internal < len(self.live) * self.memory.block_size or not self.live

    def teardown(self):
        """When all are gone the pool is as it was in the beginning."""
        for seq in self.live.values():
            self.memory.free(seq)
            self.memory.check()
        if hasattr(self, "empty"):
            assert self.memory.memory_map() == self.empty


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
def test_no_order_of_operations_breaks_memory(choice):
    machine = type("Machine", (AllocatorMachine,), {"choice": choice})
    run_state_machine_as_test(machine, settings=settings())
