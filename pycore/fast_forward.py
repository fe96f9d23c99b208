"""The same engine in leaps, exactly equal to stepping.

    step ─▶ │ admit r7 │ decode … decode … decode, r3 finishes │ preempt r7 │ …
    leap ─▶ │   step   │               one leap                │    step    │

Between two decisions every sequence decodes one token a step: nobody arrives, is admitted or preempted, and
nobody finishes but in the last of these steps. All that changes is how long the sequences are, when they need
their next block, and how long a step takes. The first is an addition, the second a list of blocks to come, in
the order in which stepping would hand them out, and the third a sum in closed form.
"""

from typing import NamedTuple

from pycore.cost_model import Decodes
from pycore.engine import Engine
from pycore.named_tuples import of_fields
from pycore.request import Sequence
from pycore.scheduling.cohort import Cohort


class Stretch(NamedTuple):
    """Steps in a row that only decode, and what they did to memory.

    Attributes:
        num_steps: how many, at least 1.
        start_ns: when the first began.
        decodes: what the first of them computed.
        grown: blocks that were handed out in each step; empty if there are none at all.
        never: of these blocks, slots that will never be filled: step, from 0 on, and how many.
        cached: by how many slots the cached ones changed: step, and number.
    """

    num_steps: int
    start_ns: int
    decodes: Decodes
    grown: list[int]
    never: list[tuple[int, int]]
    cached: list[tuple[int, int]]


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
        steps = min(limit, self.num_ahead())
        return self.leap_ahead(steps) if steps else None

    def num_ahead(self) -> int:
        """Queues those who have arrived; how many of the next steps only decode, if memory suffices."""
        self.engine.receive_arrivals()
        return self.engine.scheduler.foresight.decodes_ahead()

    def leap_ahead(self, steps: int) -> tuple[Stretch, list[Sequence]] | None:
        """Runs up to `steps` of those that `num_ahead` has just told of; else as `leap`."""
        cohort = self.engine.scheduler.foresight.cohort
        return self._leap_together(cohort, steps) if cohort and cohort.count else self._leap_each(steps)

    def _leap_together(self, cohort: Cohort, steps: int) -> tuple[Stretch, list[Sequence]] | None:
        """Where it is enough to count those that run."""
        engine = self.engine
        start_ns = engine.now_ns
        decodes = of_fields(Decodes, (cohort.count, cohort.num_tokens, ()))
        begun, ns = engine.cost_model.begun_within(decodes, engine.next_arrival_ns - start_ns, steps)
        grown = cohort.tables.take(begun)
        if not grown:
            return None  # the step that lacks a block has to be decided
        if len(grown) < begun:
            begun = len(grown)
            ns = engine.cost_model.stretch_ns(decodes, begun)
        engine.now_ns = end_ns = start_ns + ns
        engine.num_steps += begun
        finished, never = engine.scheduler.foresight.decode_together(begun, end_ns)
        return of_fields(Stretch, (begun, start_ns, decodes, grown, never, [])), finished

    def _leap_each(self, steps: int) -> tuple[Stretch, list[Sequence]] | None:
        """Where each sequence has to be looked at."""
        engine = self.engine
        scheduler, allocator = engine.scheduler, engine.allocator
        running = scheduler.running
        rooms = allocator.rooms(running)
        if rooms is None:
            return None
        count, size = len(running), allocator.block_size
        lengths = [seq.num_tokens for seq in running]
        decodes = Decodes(count, sum(lengths), lengths if engine.cost_model.needs_lengths else ())
        start_ns = engine.now_ns
        # The last of them may end after the next request has arrived, but must begin before.
        steps, ns = engine.cost_model.begun_within(decodes, engine.next_arrival_ns - start_ns, steps)
        # A block is wanted in step j by the i-th of them: j · count + i
        wanted = [
            j * count + i for i, room in enumerate(rooms) if room < steps for j in range(room, steps, size)
        ]
        wanted.sort()
        most = (allocator.num_free - scheduler.foresight.spare_slots) // size
        if len(wanted) > most:
            steps = wanted[most] // count if most > 0 else 0  # the step that lacks a block has to be decided
            if steps < 1:
                return None
            ns = engine.cost_model.stretch_ns(decodes, steps)
            wanted = [each for each in wanted if each < steps * count]
        grown, never, cached = [], [], []
        if wanted:
            grown_at = [each // count for each in wanted]
            grown = [0] * steps
            for step in grown_at:
                grown[step] += 1
            never, cached = self._grow([running[each % count] for each in wanted], grown_at)
        if scheduler.has_tokens:
            self._name_tokens(steps)
        engine.now_ns += ns
        engine.num_steps += steps
        finished = scheduler.foresight.decode(steps, engine.now_ns)
        return Stretch(steps, start_ns, decodes, grown, never, cached), finished

    def _grow(
        self, seqs: list[Sequence], steps: list[int]
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Hands out a block to each, in this order, in these steps; see Stretch.never and Stretch.cached."""
        allocator = self.engine.allocator
        cached = allocator.num_cached
        if not cached:
            never, changes = allocator.grow(seqs), []
        else:
            never, changes = [], []
            for seq, step in zip(seqs, steps, strict=True):
                never += allocator.grow([seq])
                changes.append((step, allocator.num_cached - cached))
                cached = allocator.num_cached
        return [(step, slots) for step, slots in zip(steps, never, strict=True) if slots], changes

    def _name_tokens(self, steps: int) -> None:
        """Says which tokens come of the stretch, and tells the prefix cache of the blocks that they fill."""
        running, allocator = self.engine.scheduler.running, self.engine.allocator
        self.engine.runner.decode(running, steps)
        filled = [(steps - 1, i) for i in range(len(running))]
        if any(seq.request.answer for seq in running):  # others may have the same: as blocks fill
            size = allocator.block_size
            filled = sorted(
                (step, i)
                for i, seq in enumerate(running)
                for step in range(-(seq.num_computed + 1) % size, steps, size)
            )
        for step, i in filled:
            seq = running[i]
            seq.num_computed += step
            allocator.allocate_slots(seq, 1)  # the slot is there; blocks that are full get a key
            seq.num_computed -= step
