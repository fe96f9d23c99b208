"""Which token comes next: the protocol, and the runner that only counts."""

from collections.abc import Sequence as Series
from typing import Protocol

from pycore.request import Sequence
from pycore.rng import Rng
from pycore.scheduling.batch import Batch
from pycore.scheduling.outcome import Outcome


class ModelRunner(Protocol):
    """Batch → next tokens."""

    def run(self, batch: Batch) -> Outcome:
        """Carries out the batch's moves, computes its tokens in batch order, and chooses the next ones."""


class CountingRunner:
    """No model: every sequence gets a token, whichever. Beams are drawn, the better ones more often.

    The stream it draws from is its own, so that a load of plain requests draws nothing. Where prompts say
    what their tokens are, a generated token is the answer's if the load knows it, else one that was never
    seen before: −1, −2, and so on.
    """

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._num_named = 0
        self._nothing = Outcome()  # one for all steps that only count

    def run(self, batch: Batch) -> Outcome:
        """See ModelRunner."""
        if not batch.has_groups and not batch.has_tokens:
            return self._nothing
        outcome = Outcome()
        for seq, num_new in zip(batch.seqs, batch.num_new, strict=True):
            request = seq.request
            if num_new < seq.num_uncomputed or request.id in outcome.branches:
                continue
            if request.num_seqs > 1 and seq.num_generated == 0:
                parents = [seq] * request.num_seqs
            elif request.num_seqs > 1 and request.decoding == "beam":
                best_first = range(len(seq.group), 0, -1)
                parents = self._rng.choices(seq.group, tuple(best_first), request.num_seqs)
                parents.sort(key=seq.group.index)
            else:
                if seq.tokens is not None:
                    answer = request.answer
                    outcome.tokens[seq.id] = answer[seq.num_generated] if answer else self._new_token()
                continue
            named = seq.tokens is not None
            outcome.branches[request.id] = [
                (parent, self._new_token() if named else None) for parent in parents
            ]
        return outcome

    def decode(self, seqs: Series[Sequence], steps: int) -> None:
        """Names the tokens that come of `steps` batches of plain decodes of `seqs`, as `run` would."""
        named = []
        for seq in seqs:
            answer = seq.request.answer
            if answer is not None and seq.tokens is not None:
                said = len(seq.tokens) - seq.request.prompt_len
                seq.tokens += answer[said : said + steps]
            elif seq.tokens is not None:
                named.append(seq)
        first, last = self._num_named + 1, self._num_named + len(named) * steps
        for i, seq in enumerate(named):
            for number in range(first + i, last + 1, len(named)):
                seq.tokens.append(-number)
        self._num_named = last

    def _new_token(self) -> int:
        self._num_named += 1
        return -self._num_named
