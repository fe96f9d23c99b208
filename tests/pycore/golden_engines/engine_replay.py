"""Replays a case's requests through our engine: the cases S (vLLM V1) and O (vLLM V0)."""

from collections.abc import Callable

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.engine import Engine
from pycore.events import Event, EventLog
from pycore.model_runner import CountingRunner
from pycore.request import Request
from pycore.rng import Rng
from pycore.scheduling.batch import Batch
from pycore.scheduling.outcome import Outcome
from tests.pycore.golden_engines.block_replay import PROMPT_KEYS, as_prompt

Sampler = Callable[[int], int]  # step → the token that every sequence gets in it


class FixedTokens:
    """Every sequence gets the token of the step, as in the engines' own runs. Implements ModelRunner."""

    def __init__(self, sampled: Sampler) -> None:
        self.batch = Batch()
        self._sampled = sampled
        self._step = 0
        self._counting = CountingRunner(Rng(0))

    def run(self, batch: Batch) -> Outcome:
        """See ModelRunner; keeps the batch, to be compared."""
        self.batch = batch
        outcome = self._counting.run(batch)
        token = self._sampled(self._step)
        self._step += 1
        tokens = dict.fromkeys(outcome.tokens, token)
        branches = {id: [(seq, token) for seq, _ in pairs] for id, pairs in outcome.branches.items()}
        return Outcome(tokens, branches)


class EngineReplay:
    """Our engine over a case's requests; a step takes 1 ns, so that a request's arrival is its step."""

    def __init__(self, given: list[dict], memory: MemoryConfig, scheduler: SchedulerConfig) -> None:
        ordered = sorted(given, key=lambda request: request.get("at", 0))
        self._names = [request["id"] for request in ordered]
        requests = [
            Request(
                number,
                request.get("at", 0),
                len(request["tokens"]),
                request["max_tokens"],
                request.get("n", 1),
                "parallel" if request.get("n", 1) > 1 else "plain",
                prompt=as_prompt(request["tokens"], {key: request.get(key) for key in PROMPT_KEYS}),
                priority=request.get("priority", 0),
            )
            for number, request in enumerate(ordered)
        ]
        self.runner = FixedTokens(lambda step: 10_000 + step)
        config = EngineConfig(memory, scheduler, max_len=1 << 20, step_ns=1)
        self.engine: Engine = build_engine(config, requests, EventLog(), lambda allocator: self.runner)

    def name(self, request: int) -> str:
        """What the case calls a request."""
        return self._names[request]

    def step(self) -> tuple[Event, ...]:
        """One iteration; what happened in it."""
        self.engine.step()
        self.engine.check()
        return self.engine.log.drain()
