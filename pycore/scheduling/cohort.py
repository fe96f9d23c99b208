"""Those that run and decode, a token each in every step: counted together, and not looked at one by one."""

from heapq import heappop, heappush

from pycore.memory.steady_tables import SteadyTables
from pycore.request import Sequence


class Cohort:
    """The first of the running sequences, all of which decode.

    While a sequence is in it, its own counters stand still; they are right again once it has left.

    Attributes:
        count: how many they are.
        num_tokens: tokens known so far, summed over them.
        tables: the same for their memory.
    """

    def __init__(self, running: list[Sequence], tables: SteadyTables) -> None:
        """Nobody yet; `running` are all that run, in order of admission."""
        self.count = 0
        self.num_tokens = 0
        self.tables = tables
        self._running = running
        self._step = 0
        self._num_joined = 0
        # A heap: after which step a sequence is done, the how manieth it was to join, the sequence.
        self._ends: list[tuple[int, int, Sequence]] = []

    @property
    def steps_ahead(self) -> int:
        """Steps until somebody is done; 0 if not all that run are in it."""
        return self._ends[0][0] - self._step if self.count == len(self._running) > 0 else 0

    def gather(self) -> None:
        """Takes in those that run next, as far as they decode and can be counted."""
        running = self._running
        while self.count < len(running):
            seq = running[self.count]
            num_tokens = seq.num_tokens
            if num_tokens - seq.num_computed != 1 or seq.first_token_ns is None or not self.tables.join(seq):
                return
            self.count += 1
            self.num_tokens += num_tokens
            self._num_joined += 1
            heappush(self._ends, (self._step + seq.total_len - num_tokens, self._num_joined, seq))

    def advance(self, steps: int) -> tuple[list[Sequence], list[tuple[int, int]]]:
        """Each has decoded so many tokens, for which its table has the blocks.

        Returns:
            Those that are done, in order of admission, who leave it; and see SteadyTables.advance.
        """
        self._step += steps
        self.num_tokens += steps * self.count
        never = self.tables.advance(steps)
        ends, finished = self._ends, []
        while ends and ends[0][0] <= self._step:
            seq = heappop(ends)[2]
            seq.num_tokens = seq.total_len
            seq.num_computed = seq.total_len - 1
            self.count -= 1
            self.num_tokens -= seq.total_len
            self.tables.leave(seq)
            finished.append(seq)
        return finished, never

    def settle(self, ahead: int = 0) -> None:
        """Lets all go; their tables have blocks for `ahead` tokens more."""
        for end, _, seq in self._ends:
            seq.num_tokens = seq.total_len - (end - self._step)
            seq.num_computed = seq.num_tokens - 1
        self.tables.settle(ahead)
        self._ends.clear()
        self.count = self.num_tokens = 0
