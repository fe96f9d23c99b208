"""The same engine in leaps, exactly equal to stepping.

    step ─▶ │ admit r7 │ decode … decode … decode, r3 finishes │ preempt r7 │ …
    leap ─▶ │   step   │               one leap                │    step    │

Between two decisions every sequence decodes one token a step: nobody arrives, is admitted or preempted, and
nobody finishes but in the last of these steps. All that changes is how long the sequences are, when they need
their next block, and how long a step takes. The first is an addition, the second a list of blocks to come, in
the order in which stepping would hand them out, and the third a sum in closed form.
"""

from dataclasses import dataclass
from itertools import groupby

from pycore.cost_model import Decodes
from pycore.engine import Engine
from pycore.request import Sequence


@dataclass(frozen=True, slots=True)
class Stretch:
    """Steps in a row that only decode, and what they did to memory.

    Attributes:
        num_steps: how many, at least 1.
        start_ns: when the first began.
        decodes: what the first of them computed.
        growth: (steps before it, slots held, slots of these that will never be filled, slots cached) for each
            step in which somebody got a block: more than at the start, and cached in all, from its end on.
    """

    num_steps: int
    start_ns: int
    decodes: Decodes
    growth: tuple[tuple[int, int, int, int], ...]


class FastForward:
    """Advances an engine by leaps where it can, and by steps where something has to be decided.

    Attributes:
        engine: not to be stepped by anybody else between `stretch` and `leap`.
    """

    def __init__(self, engine: Engine) -> None:
        """An engine whose runner only counts. A leap leaves out that the head of the queue still waits."""
        self.engine = engine

    def leap(self, limit: int) -> tuple[Stretch, list[Sequence]] | None:
        """Runs the next steps at once, if all they do is decode.

        Args:
            limit: most steps to run, at least 1.

        Returns:
            What they were, and the sequences that finished in the last of them; None, and nothing changed but
            that those who have arrived are queued, if the next step has to be decided.
        """
        engine = self.engine
        scheduler, allocator = engine.scheduler, engine.allocator
        engine.receive_arrivals()
        steps = min(limit, scheduler.decodes_ahead())
        if steps < 1:
            return None
        running = scheduler.running
        rooms = allocator.rooms(running)
        if rooms is None:
            return None
        cost_model = engine.cost_model
        keys = sum([seq.num_tokens for seq in running])
        lengths = [seq.num_tokens for seq in running] if cost_model.needs_lengths else ()
        decodes = Decodes(len(running), keys, lengths)
        arrival_ns = engine.next_arrival_ns
        if arrival_ns is not None and steps > 1:  # the last of them may end after it, but must begin before
            steps = 1 + cost_model.steps_within(decodes, arrival_ns - engine.now_ns - 1, steps - 1)
        size = allocator.block_size
        wanted = sorted([(j, i) for i, room in enumerate(rooms) for j in range(room, steps, size)])
        most = (allocator.num_free - scheduler.spare_slots) // size
        if len(wanted) > most:
            steps = wanted[most][0] if most > 0 else 0  # the step that lacks a block has to be decided
            if steps < 1:
                return None
            wanted = [each for each in wanted if each[0] < steps]
        growth = self._grow(wanted)
        stretch = Stretch(steps, engine.now_ns, decodes, growth)
        if scheduler.has_tokens:
            self._name_tokens(steps)
        engine.now_ns += cost_model.stretch_ns(decodes, steps)
        engine.num_steps += steps
        return stretch, scheduler.decode(steps, engine.now_ns)

    def _grow(self, wanted: list[tuple[int, int]]) -> tuple[tuple[int, int, int, int], ...]:
        """Hands out blocks to (step, index of the running sequence), in this order."""
        allocator, running = self.engine.allocator, self.engine.scheduler.running
        size = allocator.block_size
        growth = []
        held = never = 0
        for step, group in groupby(wanted, key=_step):
            for _, i in group:
                never += allocator.grow(running[i])
                held += size
            growth.append((step, held, never, allocator.num_cached))
        return tuple(growth)

    def _name_tokens(self, steps: int) -> None:
        """Says which tokens come of the stretch, and tells the prefix cache of the blocks that they fill."""
        running = self.engine.scheduler.running
        self.engine.runner.decode(running, steps)
        for seq in running:
            seq.num_computed += steps - 1
            self.engine.allocator.allocate_slots(seq, 1)  # the slot is there; blocks that are full get a key
            seq.num_computed -= steps - 1


def _step(wanted: tuple[int, int]) -> int:
    return wanted[0]
