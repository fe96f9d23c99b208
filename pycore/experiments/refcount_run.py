"""Three requests over blocks whose reference counts are kept, or not."""

import re
from collections.abc import Generator, Iterable

from pycore.attention.generation import make_prompt
from pycore.attention.runner import TransformerRunner
from pycore.attention.transformer import Transformer
from pycore.cost_model import FixedStep
from pycore.engine import Engine
from pycore.events import NullLog
from pycore.experiments.attention_run import Answer
from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import Ascending
from pycore.memory.paged import PagedAllocator
from pycore.request import Request
from pycore.rng import Rng
from pycore.scheduling.policies import VICTIM
from pycore.scheduling.scheduler import Scheduler

NUM_BLOCKS = 24
BLOCK_SIZE = 4
PREFIX_LEN = 8
READER = 1
# r0 and r1 begin with the operator's prefix. r0 is done after step 4; in step 5 r2 asks for three blocks, and
# r1 for none. r2 stays longer than r1.
REQUESTS = (
    Request(0, 0, 10, 4, shared_prefix=PREFIX_LEN),
    Request(READER, 0, 11, 20, shared_prefix=PREFIX_LEN),
    Request(2, 4, 12, 30),
)
_NAMED = re.compile(r"block (\d+): (\d+) tables hold it, its reference count is (\d+)")


class UnguardedPool(BlockPool):
    """A pool with the bug: whoever frees a block frees it for all. Part of this experiment only."""

    def free(self, blocks: Iterable[int]) -> list[int]:
        """Puts every block that is held back on the free list, however many tables hold it."""
        released = [block for block in blocks if self._ref_counts[block] > 0]
        for block in released:
            self._ref_counts[block] = 0
        self._free.put(released)
        self.num_free += len(released)
        return released


class RefcountRun:
    """The three requests until r1 is done.

    Attributes:
        answer: what r1 got.
        found_step: the first step after which `check()` refused; 0 if it never did.
        found: the block that it named, how many tables held it, and its count; empty if it never refused.
        holders: which tables hold that block when r2 has started to write to it, by name, with its count.
    """

    def __init__(self, guarded: bool, seed: int) -> None:
        self.answer = Answer()
        self.found_step = 0
        self.found: tuple[int, ...] = ()
        self.holders: tuple[tuple[str, ...], int] = ((), 0)
        pool = (BlockPool if guarded else UnguardedPool)(NUM_BLOCKS, Ascending(range(NUM_BLOCKS)))
        memory = PagedAllocator(pool, BLOCK_SIZE, NullLog(), prefix_len=PREFIX_LEN)
        model = Transformer()
        rng = Rng(seed)
        prefix = make_prompt(rng.fork("prefix"), PREFIX_LEN, model.shape.vocab_size)
        prompts = {}
        for request in REQUESTS:
            own = make_prompt(rng.fork(f"prompt {request.id}"), request.prompt_len, model.shape.vocab_size)
            prompts[request.id] = prefix[: request.shared_prefix] + own[request.shared_prefix :]
        self._runner = TransformerRunner(model, memory, prompts, prefix=prefix)
        scheduler = Scheduler(
            memory, VICTIM["latest_arrival"], max_len=64, max_num_seqs=8, watermark_slots=0, log=NullLog()
        )
        self._engine = Engine(REQUESTS, scheduler, memory, self._runner, FixedStep(1), NullLog())

    def watch(self) -> Generator[None]:
        """Runs; pauses after each step."""
        engine = self._engine
        while len(self.answer.tokens) < REQUESTS[READER].output_len:
            finished = engine.step()
            for seq in [*finished, *engine.scheduler.running]:
                if seq.id == READER:
                    self.answer.tokens.append(seq.tokens[-1])
                    self.answer.logits.append(self._runner.logits[READER])
            self._audit()
            yield

    def _audit(self) -> None:
        memory = self._engine.allocator
        try:
            self._engine.check()
        except AssertionError as refusal:
            if not self.found_step and (named := _NAMED.search(str(refusal))):
                self.found_step = self._engine.num_steps
                self.found = tuple(int(number) for number in named.groups())
        if self.found and not self.holders[0] and self._engine.num_steps > self.found_step:
            block = self.found[0]
            snapshot = memory.memory_map()
            pairs = zip(snapshot.seqs, snapshot.places, strict=True)
            names = tuple(f"r{seq}" if seq < len(REQUESTS) else "prefix" for seq, at in pairs if block in at)
            self.holders = (names, memory.pool.ref_count(block))
