"""The tiny transformer as the engine's model runner: real tokens over the allocator's own block tables.

Scheduler ──Batch──▶ TransformerRunner ──moves──▶ PagedStore ◀──block tables── PagedAllocator
    ▲──tokens, branches──┘      └──tokens──▶ Transformer ──write, attend──▶ PagedStore
"""

from collections.abc import Mapping
from collections.abc import Sequence as Numbers

import numpy as np

from pycore.attention.kv_store import KVStore
from pycore.attention.paged_store import PagedStore
from pycore.attention.sampling import greedy, sample, top_log_probs
from pycore.attention.transformer import Transformer
from pycore.memory.paged import PagedAllocator
from pycore.request import PREFIX_ID, Request, Sequence
from pycore.rng import Rng
from pycore.scheduling.batch import Batch
from pycore.scheduling.outcome import Outcome

Beam = tuple[int, list[int], Sequence]  # minus its score, its generated tokens, whom it goes on from


class TransformerRunner:
    """Computes what the scheduler asks for. Implements ModelRunner.

    Plain requests take the most likely token. Parallel samples draw, each from a stream of its own that
    depends on nothing but seed, request and sample, so that whoever else runs changes nothing. Beams keep the
    best continuations of all beams together; equal scores are ordered by their tokens.

    Attributes:
        store: keys and values, in the allocator's blocks.
        through: what the model writes to and reads from: the store, or what listens on the way to it.
        logits: the last ones of each sequence in the last batch, (vocab_size,) by sequence id.
    """

    def __init__(
        self,
        model: Transformer,
        allocator: PagedAllocator,
        prompts: Mapping[int, Numbers[int]],
        *,
        prefix: Numbers[int] = (),
        seed: int = 0,
        temperature: float = 1.0,
        tile_blocks: int | None = None,
    ) -> None:
        """Sets aside arrays for all blocks, and computes the operator's prefix if there is one.

        Args:
            model: the transformer.
            allocator: the engine's memory, empty.
            prompts: token ids of each request's prompt, by request id.
            prefix: token ids of the operator's prefix, as many as the allocator keeps.
            seed: of the samples.
            temperature: of the samples, above 0.
            tile_blocks: see PagedStore.

        Raises:
            ValueError: the prefix is not as long as the one that the allocator keeps.
        """
        pool, swap_space = allocator.pool, allocator.swap_space
        self.store = PagedStore(
            model.shape,
            pool.num_blocks,
            allocator.block_size,
            allocator.block_table,
            num_cpu_blocks=swap_space.pool.num_blocks if swap_space else 0,
            tile_blocks=tile_blocks,
        )
        self.through: KVStore = self.store
        self.logits: dict[int, np.ndarray] = {}
        self._model = model
        self._prompts = prompts
        self._temperature = temperature
        self._rng = Rng(seed)
        self._streams: dict[tuple[int, int], Rng] = {}  # (request, sample)
        self._scores: dict[int, dict[tuple[int, ...], int]] = {}  # request → generated tokens → score
        self._known: dict[int, Sequence] = {}  # sequences of the last batch
        if len(prefix) != allocator.prefix_len:
            raise ValueError(f"the prefix has {len(prefix)} tokens, memory keeps {allocator.prefix_len}")
        if prefix:
            model.forward([(Sequence(Request(PREFIX_ID, 0, len(prefix), 1)), prefix)], self.store)

    def run(self, batch: Batch) -> Outcome:
        """See ModelRunner.

        Raises:
            ValueError: a prompt is missing, or not as long as its request says.
        """
        self.store.carry_out(batch.moves)
        self._forget_the_gone(batch)
        outcome = Outcome()
        if not batch.seqs:
            return outcome
        work = [(seq, self._uncomputed(seq, num)) for seq, num in zip(batch.seqs, batch.num_new, strict=True)]
        rows = self._model.forward(work, self.through)
        self.logits = {seq.id: row for seq, row in zip(batch.seqs, rows, strict=True)}
        for seq, num_new in zip(batch.seqs, batch.num_new, strict=True):
            request = seq.request
            if num_new < seq.num_uncomputed:
                continue  # a piece of a prompt; its next token comes with the last piece
            if request.decoding == "beam":
                if seq is seq.group[0]:
                    outcome.branches[request.id] = self._best_beams(seq.group)
            elif request.decoding == "parallel" and seq.num_generated == 0:
                outcome.branches[request.id] = [(seq, self._drawn(seq, i)) for i in range(request.num_seqs)]
            elif request.decoding == "parallel":
                outcome.tokens[seq.id] = self._drawn(seq, seq.sample)
            else:
                outcome.tokens[seq.id] = greedy(self.logits[seq.id])
        return outcome

    def _forget_the_gone(self, batch: Batch) -> None:
        """Whoever is not in the batch has finished or lost its memory; a swapped sequence is known again."""
        now = {seq.id: seq for seq in batch.seqs}
        for seq_id, seq in self._known.items():
            if seq_id not in now:
                self.store.forget(seq)
        self._known = now

    def _uncomputed(self, seq: Sequence, num_new: int) -> list[int]:
        """The tokens to compute; the store counts before them as many as memory says there are.

        What a sequence did not compute itself, its blocks hold nevertheless: it was forked, begins with the
        operator's prefix, or came back from CPU memory.
        """
        if seq.tokens is None:
            prompt = self._prompts.get(seq.request.id, ())
            if len(prompt) != seq.request.prompt_len:
                raise ValueError(f"{seq.name}: {len(prompt)} prompt tokens, not {seq.request.prompt_len}")
            seq.tokens = list(prompt)
        if self.store.length(seq) != seq.num_computed:
            self.store.forget(seq)
            self.store.advance(seq, seq.num_computed)
        return seq.tokens[seq.num_computed : seq.num_computed + num_new]

    def _drawn(self, seq: Sequence, number: int) -> int:
        """The next token of a request's `number`-th sample, from what `seq` computed."""
        key = (seq.request.id, number)
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = sample_stream(self._rng, *key)
        return sample(self.logits[seq.id], self._temperature, stream)

    def _best_beams(self, group: list[Sequence]) -> list[tuple[Sequence, int]]:
        """The best `num_seqs` continuations of a group, and their scores kept for the next step."""
        request = group[0].request
        scores = self._scores.get(request.id, {})
        candidates: list[Beam] = []
        for seq in group:
            generated = seq.tokens[request.prompt_len :]
            score = scores.get(tuple(generated), 0)
            candidates += [
                (-score - log_prob, [*generated, token], seq)
                for token, log_prob in top_log_probs(self.logits[seq.id], request.num_seqs)
            ]
        candidates.sort(key=lambda beam: beam[:2])
        best = candidates[: request.num_seqs]
        self._scores[request.id] = {tuple(generated): -cost for cost, generated, _ in best}
        return [(seq, generated[-1]) for _, generated, seq in best]

    def score(self, seq: Sequence) -> int:
        """Summed log-probability of a beam's generated tokens, in steps of 1 / sampling.GRID.

        Raises:
            KeyError: the sequence is no beam of the last step of its request.
        """
        return self._scores[seq.request.id][tuple(seq.tokens[seq.request.prompt_len :])]


def sample_stream(rng: Rng, request: int, number: int) -> Rng:
    """The stream that a request's `number`-th parallel sample draws from, one number a token."""
    return rng.fork(f"request {request}, sample {number}")
