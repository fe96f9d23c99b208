"""Six requests with real tokens through continuous batching, beside each of them generated alone."""

from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import pairwise

from pycore.assembly import build_engine
from pycore.attention.dense_store import DenseStore
from pycore.attention.generation import decode, make_prompt
from pycore.attention.runner import TransformerRunner
from pycore.attention.trace import QueryTap, trace_query
from pycore.attention.transformer import Transformer
from pycore.config import EngineConfig, MemoryConfig
from pycore.engine import Engine
from pycore.events import NullLog
from pycore.request import Request
from pycore.rng import Rng

POOL_SLOTS = 256
# Prompt, output, arrival step: they arrive while others are under way or gone.
LENGTHS = ((9, 20, 0), (17, 6, 0), (1, 30, 2), (33, 12, 5), (4, 2, 9), (22, 25, 14))


@dataclass(slots=True)
class Answer:
    """What one request got.

    Attributes:
        tokens: generated.
        logits: what each was chosen from, arrays (vocab_size,).
    """

    tokens: list[int] = field(default_factory=list)
    logits: list = field(default_factory=list)

    def logits_off(self, other: "Answer") -> float:
        """The largest difference between two logits of the same place."""
        pairs = zip(self.logits, other.logits, strict=True)
        return max(float(abs(mine - theirs).max()) for mine, theirs in pairs)


class AttentionRun:
    """The six, batched over paged memory.

    Attributes:
        requests, prompts: what was asked.
        together, alone: answers by request id.
        most: the most sequences in one batch.
        scattered, neighbours: pairs of blocks that follow each other in a table, seen after each step; those
            of them that do not lie one behind the other in memory.
        traced: see `trace_query`, of the focused request one token before its end.
    """

    def __init__(self, block_size: int, order: str, seed: int) -> None:
        self.requests = [Request(i, at, prompt, output) for i, (prompt, output, at) in enumerate(LENGTHS)]
        self.together = {request.id: Answer() for request in self.requests}
        self.alone = {request.id: Answer() for request in self.requests}
        self.most = self.scattered = self.neighbours = 0
        self.traced: dict = {}
        self._model = Transformer()
        rng = Rng(seed)
        self.prompts = {
            request.id: make_prompt(
                rng.fork(f"prompt {request.id}"), request.prompt_len, self._model.shape.vocab_size
            )
            for request in self.requests
        }
        self._config = EngineConfig(
            MemoryConfig("paged", POOL_SLOTS // block_size, block_size, order),
            max_len=64,
            step_ns=1,
            seed=seed,
        )

    def generate_alone(self) -> Generator[None]:
        """Each request by itself in contiguous memory; pauses after each."""
        for request in self.requests:
            answer = self.alone[request.id]
            store = DenseStore(self._model.shape, request.total_len)
            for token, logits in decode(self._model, store, self.prompts[request.id], request.output_len):
                answer.tokens.append(token)
                answer.logits.append(logits)
            yield

    def serve(self, focus: int, layer: int, head: int) -> Generator[None]:
        """All together; pauses after each step.

        Args:
            focus: request whose attention is traced.
            layer, head: where.
        """
        made: list[TransformerRunner] = []

        def make_runner(memory) -> TransformerRunner:
            made.append(TransformerRunner(self._model, memory, self.prompts, tile_blocks=1))
            return made[0]

        engine = build_engine(self._config, self.requests, NullLog(), make_runner)
        (runner,) = made
        tap = runner.through = QueryTap(runner.store)
        while not engine.done:
            finished = engine.step()
            self._note(engine, runner)
            for seq in [*finished, *engine.scheduler.running]:
                if seq.id in runner.logits:
                    self.together[seq.id].tokens.append(seq.tokens[-1])
                    self.together[seq.id].logits.append(runner.logits[seq.id])
                if seq.id == focus and seq.num_generated == seq.request.output_len - 1:
                    query = tap.last_query(layer, seq)
                    self.traced = trace_query(runner.store, layer, seq, query, head)
            yield

    def _note(self, engine: Engine, runner: TransformerRunner) -> None:
        self.most = max(self.most, len(runner.logits))
        for seq in engine.scheduler.running:
            table = engine.allocator.block_table(seq)
            self.neighbours += len(table) - 1
            self.scattered += sum(after != before + 1 for before, after in pairwise(table))
