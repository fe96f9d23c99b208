"""A tree and a pool through any sequence of operations, against an oracle that knows only whole prompts.

The content model says what the KV of each slot was computed from: a slot that the cache returns for a
position must hold exactly the prompt's tokens up to there.
"""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import Ascending
from pycore.prefix_cache.eviction import EVICTION
from pycore.prefix_cache.radix import RadixCache
from pycore.prefix_cache.rules import MINI_SGLANG, SGLANG

BLOCKS = 24
PROMPTS = st.lists(st.integers(0, 2), min_size=0, max_size=12).map(tuple)


class RadixMachine(RuleBasedStateMachine):
    """Requests that match, lock, allocate, insert and unlock, as an engine makes them."""

    @initialize(
        page_size=st.sampled_from([1, 2, 3]),
        policy=st.sampled_from(sorted(EVICTION)),
        rules=st.sampled_from([SGLANG, MINI_SGLANG]),
    )
    def begin(self, page_size, policy, rules):
        self.page = page_size
        self.rules = rules
        self.cache = RadixCache(page_size, EVICTION[policy], rules)
        self.pool = BlockPool(BLOCKS, Ascending(range(BLOCKS)))
        self.content: dict[int, tuple[int, ...]] = {}  # block → the tokens up to its end
        self.cached: set[tuple[int, ...]] = set()  # every cached prefix of whole pages
        self.running: list[tuple[object, tuple[int, ...]]] = []
        self.last: tuple[int, ...] = ()

    def longest(self, prompt):
        """The oracle's match: length of the longest cached prefix."""
        whole = range(len(prompt) // self.page * self.page, 0, -self.page)
        return next((n for n in whole if prompt[:n] in self.cached), 0)

    def matched(self, prompt):
        found = self.cache.match(prompt)
        assert found.num_tokens == self.longest(prompt)
        assert len(found.values) * self.page == found.num_tokens
        for i, block in enumerate(found.values):
            assert self.content[block] == prompt[: (i + 1) * self.page]
            assert self.pool.ref_count(block) == 1
        return found

    def make_room(self, blocks):
        """Evicts until `blocks` are free, or nothing is left: whole leaves without a user, and no more."""
        missing = blocks - self.pool.num_free
        wanted = min(missing * self.page, self.cache.evictable)
        had = self.cache.evictable
        gone = self.cache.evict(wanted)
        freed = sum(len(leaf.tokens) for leaf in gone)
        assert freed >= max(0, wanted)
        assert self.cache.evictable == had - freed
        if gone:
            assert freed - len(gone[-1].tokens) < wanted, "a leaf more than was needed"
        for leaf in gone:
            ends = [self.content[block] for block in leaf.values]
            for end in ends:
                assert not any(p != end and p[: len(end)] == end for p in self.cached - set(ends))
                assert not any(p[: len(end)] == end for _, p in self.running)
            self.cached -= set(ends)
            assert self.pool.free(leaf.values) == list(leaf.values)

    @rule(prompt=PROMPTS)
    def look_up(self, prompt):
        self.matched(prompt)

    @rule(prompt=PROMPTS, priority=st.integers(0, 3), stays=st.booleans(), goes_on=st.booleans())
    def run_request(self, prompt, priority, stays, goes_on):
        """One that begins anew, or the next turn of the last conversation."""
        prompt = self.last = self.last[:12] + prompt[:4] if goes_on else prompt
        found = self.matched(prompt)
        self.cache.lock(found.node)
        whole = len(prompt) // self.page
        new = whole - len(found.values)
        if new > self.pool.num_free:
            self.make_room(new)
        blocks = self.pool.allocate(new)
        if blocks is None:
            self.cache.unlock(found.node)
            return
        table = [*found.values, *blocks]
        for i in range(len(found.values), whole):
            self.content[table[i]] = prompt[: (i + 1) * self.page]
        inserted = self.cache.insert(prompt, table, priority)
        assert inserted.num_held == found.num_tokens
        self.cached |= {prompt[: n * self.page] for n in range(1, whole + 1)}
        self.cache.lock(inserted.node)
        self.cache.unlock(found.node)
        if stays:
            self.running.append((inserted.node, prompt[: whole * self.page]))
        else:
            self.cache.unlock(inserted.node)

    @rule(prompt=PROMPTS)
    def insert_what_is_there_twice(self, prompt):
        """Two requests computed the same prefix at once: the second keeps its own blocks, and frees them."""
        whole = len(prompt) // self.page
        blocks = self.pool.allocate(whole) if whole else []
        if blocks is None:
            return
        held = self.cache.insert(prompt, blocks).num_held // self.page
        for i in range(held, whole):
            self.content[blocks[i]] = prompt[: (i + 1) * self.page]
        self.pool.free(blocks[:held])
        self.cached |= {prompt[: n * self.page] for n in range(1, whole + 1)}

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 99))
    def finish(self, which):
        node, _ = self.running.pop(which % len(self.running))
        self.cache.unlock(node)

    @rule(num_tokens=st.integers(1, 20))
    def evict_some(self, num_tokens):
        if num_tokens > self.cache.evictable and not self.rules.partial_eviction:
            with pytest.raises(ValueError, match="cannot evict"):
                self.cache.evict(num_tokens)
            return
        self.make_room(self.pool.num_free + num_tokens)

    @invariant()
    def all_adds_up(self):
        if not hasattr(self, "cache"):
            return
        self.cache.check()
        self.pool.check()
        cached = self.cache.evictable + self.cache.protected
        assert self.pool.num_free * self.page + cached == BLOCKS * self.page
        assert cached == len(self.cached) * self.page
        locked = {
            prompt[:n] for _, prompt in self.running for n in range(self.page, len(prompt) + 1, self.page)
        }
        assert self.cache.protected == len(locked) * self.page


TestRadixMachine = RadixMachine.TestCase
