"""Which token comes next: the protocol, and the runner that only counts."""

from typing import Protocol

from pycore.rng import Rng
from pycore.scheduling.batch import Batch
from pycore.scheduling.outcome import Outcome


class ModelRunner(Protocol):
    """Batch → next tokens."""

    def run(self, batch: Batch) -> Outcome:
        """Carries out the batch's moves, computes its tokens in batch order, and chooses the next ones."""


class CountingRunner:
    """No model: every sequence gets a token, whichever. Beams are drawn, the better ones more often.

    The stream it draws from is its own, so that a load of plain requests draws nothing.
    """

    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    def run(self, batch: Batch) -> Outcome:
        """See ModelRunner."""
        outcome = Outcome()
        if not batch.has_groups:
            return outcome
        for seq in batch.seqs:
            request = seq.request
            if request.num_seqs == 1 or request.id in outcome.branches:
                continue
            if seq.num_generated == 0:
                parents = [seq] * request.num_seqs
            elif request.decoding == "beam":
                best_first = range(len(seq.group), 0, -1)
                parents = self._rng.choices(seq.group, tuple(best_first), request.num_seqs)
                parents.sort(key=seq.group.index)
            else:
                continue
            outcome.branches[request.id] = [(parent, None) for parent in parents]
        return outcome
