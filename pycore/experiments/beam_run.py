"""One beam search of the tiny transformer through the engine, watched; and the same search without any KV."""

from collections.abc import Generator

from pycore.assembly import build_engine
from pycore.attention.dense_store import DenseStore
from pycore.attention.generation import make_prompt
from pycore.attention.runner import TransformerRunner
from pycore.attention.sampling import top_log_probs
from pycore.attention.transformer import Transformer
from pycore.attention.weights import TransformerShape
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.engine import Engine
from pycore.events import BlockCopied, BlocksFreed, Dropped, EventLog, Forked
from pycore.request import Request, Sequence
from pycore.rng import Rng

Found = list[tuple[int, list[int]]]  # (score, generated tokens), best first


class BeamRun:
    """A search of one width.

    Attributes:
        width: beams kept.
        used, unshared: blocks in use after each step but the last, which frees all; and the blocks that the
            beams' tables hold one by one.
        copies, drops: blocks copied on write; beams dropped.
        freed, kept: entries of the dropped beams' tables whose block was freed; that others held still.
        beams: what was found.
        tree: one entry a beam and step, columns: `step` (0: the prompt), `parent` (entry, −1: none), `token`
            (−1: none), `score`, `blocks` (the beam's table after the step).
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.used: list[int] = []
        self.unshared: list[int] = []
        self.copies = self.drops = self.freed = self.kept = 0
        self.beams: Found = []
        self.tree: dict[str, list] = {name: [] for name in ("step", "parent", "token", "score", "blocks")}

    @property
    def savings(self) -> list[float]:
        """Share of the unshared blocks that sharing saves, 0 to 1, step by step."""
        return [1 - used / unshared for used, unshared in zip(self.used, self.unshared, strict=True)]

    @property
    def mean_saving(self) -> float:
        """Mean over the steps."""
        return sum(self.savings) / len(self.savings)

    def watch(self, model: Transformer, prompt: list[int], steps: int, block_size: int) -> Generator[None]:
        """Runs the search; pauses after each step."""
        request = Request(0, 0, len(prompt), steps, self.width, "beam")
        num_blocks = -(-self.width * (request.total_len + block_size) // block_size)
        config = EngineConfig(
            MemoryConfig("paged", num_blocks, block_size),
            SchedulerConfig(watermark=0),
            max_len=request.total_len,
            step_ns=1,
        )
        made: list[TransformerRunner] = []

        def make_runner(memory) -> TransformerRunner:
            made.append(TransformerRunner(model, memory, {0: prompt}))
            return made[0]

        engine = build_engine(config, [request], EventLog(), make_runner)
        nodes = {0: self._grow(0, -1, -1, 0, ())}
        for step in range(1, steps + 1):
            finished = engine.step()
            engine.check()
            nodes = self._note(engine, made[0], step, nodes, finished)
            yield
        self.beams.sort(key=lambda beam: (-beam[0], beam[1]))

    def _note(
        self,
        engine: Engine,
        runner: TransformerRunner,
        step: int,
        nodes: dict[int, int],
        finished: list[Sequence],
    ) -> dict[int, int]:
        """Counts what happened in a step; returns the tree's entry of each living beam."""
        events = engine.log.drain()
        dropped = {event.seq for event in events if isinstance(event, Dropped)}
        parents = {event.seq: event.parent for event in events if isinstance(event, Forked)}
        self.drops += len(dropped)
        for event in events:
            self.copies += isinstance(event, BlockCopied)
            if isinstance(event, BlocksFreed) and event.seq in dropped:
                self.freed += len(event.blocks)
                self.kept += event.kept
        if not finished:
            memory = engine.allocator.memory_map()
            self.used.append(memory.used // memory.block_size)
            self.unshared.append(sum(memory.held) // memory.block_size)
        living = {}
        for seq in finished or engine.scheduler.running:
            score = runner.score(seq)
            parent = nodes[parents.get(seq.id, seq.id)]
            blocks = engine.allocator.block_table(seq)
            living[seq.id] = self._grow(step, parent, seq.tokens[-1], score, blocks)
            if finished:
                self.beams.append((score, seq.tokens[seq.request.prompt_len :]))
        return living

    def _grow(self, step: int, parent: int, token: int, score: int, blocks: tuple[int, ...]) -> int:
        for name, value in zip(self.tree, (step, parent, token, score, list(blocks)), strict=True):
            self.tree[name].append(value)
        return len(self.tree["step"]) - 1


def search_from_scratch(
    model: Transformer, prompt: list[int], steps: int, width: int
) -> Generator[None, None, Found]:
    """The same search, each beam computed from its first token in every step; pauses after each step."""
    beams: Found = [(0, [])]
    for _ in range(steps):
        found: Found = []
        for score, tokens in beams:
            whole = prompt + tokens
            store = DenseStore(model.shape, len(whole))
            (logits,) = model.forward([(Sequence(Request(0, 0, len(whole), 1)), whole)], store)
            found += [(score + each, [*tokens, token]) for token, each in top_log_probs(logits, width)]
        found.sort(key=lambda beam: (-beam[0], beam[1]))
        beams = found[:width]
        yield
    return beams


def make_search(seed: int, prompt_len: int) -> tuple[Transformer, list[int]]:
    """The transformer and a random prompt.

    In float64: a beam's score adds up rounded logits, and float32's noise would now and then tip a rounding.
    """
    model = Transformer(TransformerShape(dtype="float64"))
    return model, make_prompt(Rng(seed).fork("prompt"), prompt_len, model.shape.vocab_size)
