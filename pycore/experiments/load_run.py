"""A load that shares, run on a small pool to its end and counted step by step."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import Admitted, BlockCopied, EventLog, PrefixShared, Recovered
from pycore.memory.memory_map import MemoryMap
from pycore.metrics import MemoryTally, MemoryUse
from pycore.request import DECODINGS, PREFIX_ID, Sequence
from pycore.workload.synthetic import Load

STEP_NS = 50_000_000
POOL_SLOTS = 256  # the page's pool: 64 blocks of 4
STEPS_AT_ONCE = 32


@dataclass(slots=True)
class Decoding:
    """What the sequences of one decoding held over a run, in block-steps.

    Attributes:
        used: blocks that they held, each once.
        unshared: blocks in their tables one by one.
    """

    used: int = 0
    unshared: int = 0

    @property
    def saving(self) -> float:
        """Share of the unshared blocks that sharing saves, 0 to 1."""
        return 1 - self.used / self.unshared if self.unshared else 0.0


@dataclass(slots=True)
class LoadRun:
    """One way to manage the pool, over the whole load.

    Attributes:
        name: of its text key and figures.
        use: the waste accounts of all steps, added up.
        steps: until the last request had finished.
        finished, finished_90: requests in all, and in the page's 90 steps.
        preemptions: of requests.
        admitted_tokens, recovered_tokens: tokens computed by prefills: first ones, and after preemptions.
        prefixes: how often a sequence took the operator's prefix.
        prefix_copies: how often the last block of that prefix was copied on write.
        copies: blocks copied on write in all.
        mixed_steps: steps in whose batch all decodings ran together.
        decodings: what each held; paged only.
    """

    name: str
    use: MemoryUse | None = None
    steps: int = 0
    finished: int = 0
    finished_90: int = 0
    preemptions: int = 0
    admitted_tokens: int = 0
    recovered_tokens: int = 0
    prefixes: int = 0
    prefix_copies: int = 0
    copies: int = 0
    mixed_steps: int = 0
    decodings: dict[str, Decoding] = field(default_factory=lambda: {name: Decoding() for name in DECODINGS})

    def measure(self, load: Load, memory: MemoryConfig, seed: int) -> Iterator[int]:
        """Runs the load; yields now and then how many requests have finished."""
        config = EngineConfig(memory, max_len=load.max_len, step_ns=STEP_NS, seed=seed)
        engine = build_engine(config, load.requests, EventLog())
        tally = MemoryTally()
        last_prefix_block = -1
        if memory.prefix_len:
            last_prefix_block = engine.allocator.memory_map().places[0][-1]
        while not engine.done:
            engine.step()
            running = engine.scheduler.running
            tally.add(engine.allocator.waste(engine.scheduler.demand), len(running))
            self.mixed_steps += len({seq.request.decoding for seq in running}) == len(DECODINGS)
            if memory.mode == "paged":
                self._hold(engine.allocator.memory_map(), running)
            for event in engine.log.drain():
                self.prefixes += isinstance(event, PrefixShared)
                self.copies += isinstance(event, BlockCopied)
                self.prefix_copies += isinstance(event, BlockCopied) and event.source == last_prefix_block
                self.admitted_tokens += event.num_tokens if isinstance(event, Admitted) else 0
                self.recovered_tokens += event.num_tokens if isinstance(event, Recovered) else 0
            if engine.num_steps == 90:
                self.finished_90 = engine.scheduler.num_finished
            if engine.num_steps % STEPS_AT_ONCE == 0:
                yield engine.scheduler.num_finished
        self.use = tally.use()
        self.steps = engine.num_steps
        self.finished = engine.scheduler.num_finished
        self.finished_90 = self.finished_90 or self.finished
        self.preemptions = engine.scheduler.num_preemptions
        yield len(load.requests)

    def _hold(self, memory: MemoryMap, running: list[Sequence]) -> None:
        decoding = {seq.id: seq.request.decoding for seq in running}
        blocks: dict[str, set[int]] = {name: set() for name in DECODINGS}
        for seq, place in zip(memory.seqs, memory.places, strict=True):
            if seq == PREFIX_ID:
                continue
            blocks[decoding[seq]].update(place)
            self.decodings[decoding[seq]].unshared += len(place)
        for name, held in blocks.items():
            self.decodings[name].used += len(held)


def measure_all(runs: list[tuple[LoadRun, MemoryConfig]], load: Load, seed: int) -> Iterator[tuple[int, int]]:
    """Runs one after the other over the same load; yields (done, total) in requests."""
    num = len(load.requests)
    for i, (run, memory) in enumerate(runs):
        for finished in run.measure(load, memory, seed):
            yield i * num + finished, len(runs) * num
