"""Loads with real tokens through the whole engine, and the same requests each generated alone."""

from collections.abc import Iterable

import numpy as np

from pycore.assembly import build_engine
from pycore.attention.dense_store import DenseStore
from pycore.attention.generation import generate, make_prompt
from pycore.attention.runner import TransformerRunner, sample_stream
from pycore.attention.sampling import greedy, sample, top_log_probs
from pycore.attention.transformer import Transformer
from pycore.attention.weights import TransformerShape
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.engine import Engine
from pycore.events import EventLog
from pycore.request import Request, Sequence
from pycore.rng import Rng

# float64: a beam's score adds up rounded logits, and float32's noise would now and then tip a rounding.
MODEL = Transformer(TransformerShape(dtype="float64"))
SEED = 3
MAX_LEN = 128
PREFIX = make_prompt(Rng(SEED).fork("prefix"), 32, MODEL.shape.vocab_size)


def prompt_of(request: Request) -> list[int]:
    """A prompt of the request's own behind what it has of the operator's prefix."""
    own = make_prompt(Rng(request.id).fork("prompt"), request.prompt_len, MODEL.shape.vocab_size)
    return PREFIX[: request.shared_prefix] + own[request.shared_prefix :]


def real_engine(
    requests: Iterable[Request], memory: MemoryConfig, scheduler: SchedulerConfig | None = None
) -> tuple[Engine, TransformerRunner]:
    """An engine over the tiny transformer; a slot that nobody wrote holds NaN, so that reading it shows."""
    requests = list(requests)
    made = []

    def make_runner(allocator) -> TransformerRunner:
        runner = TransformerRunner(
            MODEL,
            allocator,
            {request.id: prompt_of(request) for request in requests},
            prefix=PREFIX[: memory.prefix_len],
            seed=SEED,
            tile_blocks=2,
        )
        kept = -(-memory.prefix_len // memory.block_size)
        for arrays in (runner.store.blocks, runner.store.cpu_blocks):
            written = arrays is runner.store.blocks and memory.free_order == "ascending"
            arrays.keys[:, kept if written else 0 :] = np.nan
            arrays.values[:, kept if written else 0 :] = np.nan
        made.append(runner)
        return runner

    config = EngineConfig(memory, scheduler or SchedulerConfig(), max_len=MAX_LEN, step_ns=1, seed=SEED)
    return build_engine(config, requests, EventLog(), make_runner), made[0]


def run_to_end(engine: Engine) -> dict[int, list[tuple[int, list[int]]]]:
    """(sample, generated tokens) of the sequences of each request; every invariant is checked on the way."""
    ended: dict[int, list[tuple[int, list[int]]]] = {}
    while not engine.done:
        for seq in engine.step():
            tokens = seq.tokens[seq.request.prompt_len :]
            ended.setdefault(seq.request.id, []).append((seq.sample, tokens))
        engine.check()
    return ended


def outputs(engine: Engine) -> dict[int, list[list[int]]]:
    """The generated tokens of each request, its samples in order, its beams in the order of their tokens."""
    return {request: [tokens for _, tokens in sorted(found)] for request, found in run_to_end(engine).items()}


def alone(request: Request) -> list[list[int]]:
    """What the request generates by itself in contiguous memory; beams in the order of their tokens."""
    prompt = prompt_of(request)
    if request.decoding == "beam":
        return sorted(tokens for _, tokens in beams_from_scratch(request))
    if request.decoding == "plain":
        return [generate(MODEL, DenseStore(MODEL.shape, MAX_LEN), prompt, request.output_len, greedy)]
    samples = []
    for number in range(request.num_seqs):
        stream = sample_stream(Rng(SEED), request.id, number)

        def choose(logits: np.ndarray, stream: Rng = stream) -> int:
            return sample(logits, 1.0, stream)

        store = DenseStore(MODEL.shape, MAX_LEN)
        samples.append(generate(MODEL, store, prompt, request.output_len, choose))
    return samples


def beams_from_scratch(request: Request) -> list[tuple[int, list[int]]]:
    """(score, generated tokens) of the beams, best first, by a search that keeps no KV from step to step."""
    prompt = prompt_of(request)
    beams: list[tuple[int, list[int]]] = [(0, [])]
    for _ in range(request.output_len):
        found = []
        for score, tokens in beams:
            store = DenseStore(MODEL.shape, MAX_LEN)
            (logits,) = MODEL.forward([(Sequence(Request(0, 0, 1, 1)), prompt + tokens)], store)
            found += [
                (score + log_prob, [*tokens, token])
                for token, log_prob in top_log_probs(logits, request.num_seqs)
            ]
        found.sort(key=lambda beam: (-beam[0], beam[1]))
        beams = found[: request.num_seqs]
    return beams


def by_tokens(found: dict[int, list[list[int]]], requests: Iterable[Request]) -> dict[int, list[list[int]]]:
    """The outputs with the beams of each search in the order of their tokens: they have no other."""
    beams = {request.id for request in requests if request.decoding == "beam"}
    return {key: sorted(tokens) if key in beams else tokens for key, tokens in found.items()}
