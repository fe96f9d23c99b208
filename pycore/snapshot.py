"""What is, after a step: immutable columns, for pictures."""

from typing import NamedTuple

from pycore.engine import Engine
from pycore.events import Event
from pycore.memory.memory_map import MemoryMap
from pycore.memory.waste import Waste, account
from pycore.named_tuples import of_fields, shown
from pycore.prefix_cache.columns import NodeColumns
from pycore.request import NO_SEQUENCES


class Snapshot(NamedTuple):
    """The engine after a step; the state before the first is step 0.

    Attributes:
        step: steps so far.
        now_ns: simulated time in ns.
        memory: who holds what.
        waste: where the slots of the pool go.
        waiting: ids in the queue, head first.
        num_finished, num_rejected, num_preemptions: counts since the start.
        head_needed: slots that the head of the queue wants; 0 when nobody waits.
        largest_free: slots in the largest piece that may be handed out at once.
        events: what happened in this step, in order.
        prefixes: what a prefix cache knows; None where there is none. Left out of `repr`.
    """

    step: int
    now_ns: int
    memory: MemoryMap
    waste: Waste
    waiting: tuple[int, ...]
    num_finished: int
    num_rejected: int
    num_preemptions: int
    head_needed: int
    largest_free: int
    events: tuple[Event, ...]
    prefixes: NodeColumns | None = None

    def __repr__(self) -> str:
        return shown(self, hidden=1)

    @property
    def num_running(self) -> int:
        """Sequences that hold memory; the operator's prefix and the null block are none."""
        return len(self.memory.seqs) - len(NO_SEQUENCES.intersection(self.memory.seqs))

    @property
    def num_free(self) -> int:
        """Free slots; those of cached blocks are not among them."""
        return self.memory.capacity - self.memory.used - self.num_cached

    @property
    def num_cached(self) -> int:
        """Slots of blocks that nobody holds and a prefix cache knows."""
        return len(self.memory.cached) * self.memory.block_size


def take_snapshot(engine: Engine) -> Snapshot:
    """The engine as it stands; drains its log."""
    scheduler = engine.scheduler
    allocator = engine.allocator
    memory = allocator.memory_map()
    # A single hole is usable whatever the head of the queue wants, which then need not be asked.
    demand = scheduler.demand if len(memory.holes) > 1 else 0
    fields = (
        engine.num_steps,
        engine.now_ns,
        memory,
        account(memory, demand),
        tuple([seq.id for seq in scheduler.waiting]),
        scheduler.num_finished,
        scheduler.num_rejected,
        scheduler.num_preemptions,
        scheduler.head_needed,
        allocator.largest_free,
        engine.log.drain(),
        allocator.prefix_nodes(),
    )
    return of_fields(Snapshot, fields)
