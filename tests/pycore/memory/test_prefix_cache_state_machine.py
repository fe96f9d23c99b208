"""Pool, cache and tables under any sequence of operations: a block that is found holds exactly this prefix.

The model keeps what was written to each block: all tokens up to and including it, and the salt. Nothing in it
knows of keys, so a hash that forgets the parent is caught.
"""

from hashlib import blake2b

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pycore.events import NullLog
from pycore.memory.block_pool import BlockPool
from pycore.memory.caching_pool import CachingBlockPool
from pycore.memory.free_list import Ascending
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.prefix_cache.block_hash import BLOCK_HASHES, BlockHash
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Prompt
from pycore.request import FIRST_FORKED_ID, Request, Sequence

SIZE = 2
NUM_BLOCKS = 10
TOKENS = st.lists(st.integers(0, 1), min_size=1, max_size=10)  # few tokens, so that prompts meet
SALTS = st.sampled_from([None, None, "a"])
Prefix = tuple[str | None, tuple[int, ...]]


def unchained(parent, tokens, extra) -> bytes:
    """A wrong hash: equal tokens behind different ones have equal keys."""
    return blake2b(repr((tuple(tokens), extra)).encode(), digest_size=16).digest()


def machine_of(block_hash: BlockHash, uncached_first: bool) -> type[RuleBasedStateMachine]:
    """A state machine over memory with this hash."""

    class CachedMemory(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            pool = CachingBlockPool(NUM_BLOCKS, HashChain(SIZE, block_hash), uncached_first=uncached_first)
            space = SwapSpace(BlockPool(NUM_BLOCKS, Ascending(range(NUM_BLOCKS))))
            self.memory = PrefixCachingAllocator(pool, NullLog(), swap_space=space)
            self.content: dict[int, Prefix] = {}  # GPU block → what was written to it
            self.on_cpu: dict[int, Prefix] = {}
            self.running: list[list[Sequence]] = []
            self.swapped: list[list[Sequence]] = []
            self.num_seqs = 0

        def prefix(self, seq: Sequence, at: int) -> Prefix:
            """What block `at` of the sequence's table must hold."""
            return seq.request.prompt.salt, tuple(seq.tokens[: (at + 1) * SIZE])

        def carry_out(self, seq: Sequence) -> None:
            """The copies that memory asks for, then the KV of all that is now computed."""
            for move in self.memory.take_moves():
                source = self.on_cpu if move.kind == "in" else self.content
                target = self.on_cpu if move.kind == "out" else self.content
                target[move.target] = source[move.source]
            for at, block in enumerate(self.memory.block_table(seq)):
                if (at + 1) * SIZE > seq.num_computed:
                    self.content[block] = self.prefix(seq, at)
            seq.num_computed = seq.num_tokens
            self.memory.commit(seq)

        @rule(tokens=TOKENS, salt=SALTS)
        def admit(self, tokens, salt):
            prompt = Prompt(tuple(tokens), salt=salt)
            seq = Sequence(Request(self.num_seqs, 0, len(tokens), 1_000, 4, "parallel", prompt=prompt))
            if not self.memory.can_admit([seq], 0):
                return
            self.num_seqs += 1
            seq.num_computed = self.memory.match_prefix(seq)
            assert seq.num_computed < seq.num_tokens
            for at, block in enumerate(self.memory.block_table(seq)):
                assert self.content[block] == self.prefix(seq, at), f"block {block}: found for another prefix"
            assert self.memory.allocate_slots(seq, seq.num_uncomputed)
            self.carry_out(seq)
            self.running.append(seq.group)

        @precondition(lambda self: self.running)
        @rule(data=st.data(), token=st.integers(0, 1))
        def decode(self, data, token):
            seq = data.draw(st.sampled_from(data.draw(st.sampled_from(self.running))))
            seq.tokens.append(token)
            seq.num_tokens += 1
            before = self.memory.block_table(seq)
            if self.memory.allocate_slots(seq, 1):
                self.carry_out(seq)
            else:
                assert self.memory.block_table(seq) == before
                assert self.memory.num_free == 0
                seq.tokens.pop()
                seq.num_tokens -= 1

        @precondition(lambda self: self.running)
        @rule(data=st.data())
        def fork(self, data):
            parent = data.draw(st.sampled_from(data.draw(st.sampled_from(self.running))))
            self.num_seqs += 1
            child = parent.fork(FIRST_FORKED_ID + self.num_seqs, len(parent.group))
            self.memory.fork(parent, child)

        @precondition(lambda self: self.running)
        @rule(data=st.data())
        def finish(self, data):
            group = data.draw(st.sampled_from(self.running))
            seq = data.draw(st.sampled_from(group))
            self.memory.free(seq)
            group.remove(seq)
            if not group:
                self.running = [each for each in self.running if each]

        @precondition(lambda self: self.running)
        @rule(data=st.data())
        def swap_out(self, data):
            group = data.draw(st.sampled_from(self.running))
            if self.memory.swap_out(group):
                for move in self.memory.take_moves():
                    self.on_cpu[move.target] = self.content[move.source]
                self.running = [each for each in self.running if each is not group]
                self.swapped.append(group)

        @precondition(lambda self: self.swapped)
        @rule()
        def swap_in(self):
            group = self.swapped[0]
            if self.memory.can_swap_in(group, 0, capped=False):
                assert self.memory.swap_in(group)
                for move in self.memory.take_moves():
                    self.content[move.target] = self.on_cpu[move.source]
                self.running.append(self.swapped.pop(0))

        @rule()
        def reset(self):
            assert self.memory.reset() == (not self.running)

        @invariant()
        def every_block_is_free_cached_or_held(self):
            self.memory.check()
            pool = self.memory.pool
            held = {
                block for group in self.running for seq in group for block in self.memory.block_table(seq)
            }
            assert len(held) + pool.num_free == NUM_BLOCKS
            assert not held & set(pool.cached())

        @invariant()
        def tables_hold_what_their_sequences_wrote(self):
            for group in self.running:
                for seq in group:
                    for at, block in enumerate(self.memory.block_table(seq)):
                        assert self.content[block] == self.prefix(seq, at), f"{seq}: block {block}"

    return CachedMemory


@pytest.mark.parametrize("uncached_first", [True, False])
@pytest.mark.parametrize("name", BLOCK_HASHES)
def test_a_block_that_is_found_holds_exactly_this_prefix(name, uncached_first):
    some = settings(max_examples=50, stateful_step_count=40, deadline=None)
    run_state_machine_as_test(machine_of(BLOCK_HASHES[name], uncached_first), settings=some)


def test_a_hash_that_forgets_the_parent_is_caught():
    only_find = settings(
        max_examples=500,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises(AssertionError, match="found for another prefix"):
        run_state_machine_as_test(machine_of(unchained, True), settings=only_find)
