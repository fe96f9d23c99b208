"""Pool, cache and tables under any sequence of operations: a block that is found holds exactly this prefix.

The model keeps what was written to each block: all tokens up to and including it, and the salt. Nothing in it
knows of keys or of a tree, so an index that takes one prefix for another is caught.
"""

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import Ascending
from pycore.memory.prefix_reuse import PrefixReusingAllocator
from pycore.memory.swap_space import SwapSpace
from pycore.prompt import Prompt
from pycore.request import FIRST_FORKED_ID, Request, Sequence, Status

NUM_SLOTS = 20
TOKENS = st.lists(st.integers(0, 1), min_size=1, max_size=10)  # few tokens, so that prompts meet
SALTS = st.sampled_from([None, None, "a"])
Prefix = tuple[str | None, tuple[int, ...]]

# To see that a broken index is found out; the first example that does it is enough.
ONLY_FIND = settings(
    max_examples=500,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SOME = settings(max_examples=30, stateful_step_count=40)


def machine_of(make: Callable[[SwapSpace], PrefixReusingAllocator]) -> type[RuleBasedStateMachine]:
    """A state machine over the memory that is made, of NUM_SLOTS slots."""

    class CachedMemory(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.memory = make(SwapSpace(BlockPool(NUM_SLOTS, Ascending(range(NUM_SLOTS)))))
            self.size = self.memory.block_size
            self.content: dict[int, Prefix] = {}  # GPU block → what was written to it
            self.on_cpu: dict[int, Prefix] = {}
            self.running: list[list[Sequence]] = []
            self.swapped: list[list[Sequence]] = []
            self.num_seqs = 0

        def prefix(self, seq: Sequence, at: int) -> Prefix:
            """What block `at` of the sequence's table must hold."""
            return seq.request.prompt.salt, tuple(seq.tokens[: (at + 1) * self.size])

        def carry_out(self, seq: Sequence) -> None:
            """The copies that memory asks for, then the KV of all that is now computed."""
            for move in self.memory.take_moves():
                source = self.on_cpu if move.kind == "in" else self.content
                target = self.on_cpu if move.kind == "out" else self.content
                target[move.target] = source[move.source]
            for at, block in enumerate(self.memory.block_table(seq)):
                if (at + 1) * self.size > seq.num_computed:
                    self.content[block] = self.prefix(seq, at)
            seq.num_computed = seq.num_tokens
            self.memory.commit([seq])

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
            self.leave(data, Status.FINISHED)

        @precondition(lambda self: self.running)
        @rule(data=st.data())
        def drop(self, data):
            self.leave(data, Status.DROPPED)

        def leave(self, data, status: Status) -> None:
            group = data.draw(st.sampled_from(self.running))
            seq = data.draw(st.sampled_from(group))
            seq.status = status
            group.remove(seq)
            self.memory.free(seq)
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
            assert len(held) + pool.num_free == self.memory.pool.num_blocks
            assert not held & set(pool.cached())

        @invariant()
        def tables_hold_what_their_sequences_wrote(self):
            for group in self.running:
                for seq in group:
                    for at, block in enumerate(self.memory.block_table(seq)):
                        assert self.content[block] == self.prefix(seq, at), f"{seq}: block {block}"

    return CachedMemory
