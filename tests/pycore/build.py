"""Small engines, sequences and allocators for the tests of the core."""

from collections.abc import Iterable
from itertools import product

from pycore.assembly import build_allocator, build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.engine import Engine
from pycore.events import Event, EventLog, NullLog
from pycore.memory.allocator import KVAllocator
from pycore.memory.contiguous import RESERVATIONS
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.placement import PLACEMENTS
from pycore.request import Request, Sequence

# Every way to manage the pool, by a readable name: paged-ascending … contiguous-oracle-buddy.
MEMORY_CHOICES: dict[str, dict[str, str]] = {
    **{f"paged-{order}": {"mode": "paged", "free_order": order} for order in FREE_ORDERS},
    **{
        f"contiguous-{reservation}-{placement}": {
            "mode": "contiguous",
            "reservation": reservation,
            "placement": placement,
        }
        for reservation, placement in product(RESERVATIONS, PLACEMENTS)
    },
}


def memory_config(choice: str = "paged-ascending", num_blocks: int = 16, block_size: int = 4) -> MemoryConfig:
    """The settings of one of MEMORY_CHOICES."""
    return MemoryConfig(num_blocks=num_blocks, block_size=block_size, **MEMORY_CHOICES[choice])


def allocator(
    choice: str, num_blocks: int, block_size: int, max_len: int, log: EventLog | NullLog | None = None
) -> KVAllocator:
    """An empty allocator of one of MEMORY_CHOICES."""
    config = EngineConfig(memory=memory_config(choice, num_blocks, block_size), max_len=max_len)
    return build_allocator(config, log or NullLog())


def engine(
    lengths: Iterable[tuple[int, ...]],
    *,
    choice: str = "paged-ascending",
    num_blocks: int = 16,
    block_size: int = 4,
    max_len: int = 64,
    watermark: float = 0,
    max_num_seqs: int = 256,
) -> Engine:
    """An engine with a log and a step of 1 ns; `lengths` are (prompt, output[, arrival step])."""
    requests = [
        Request(i, rest[0] if rest else 0, prompt, output)
        for i, (prompt, output, *rest) in enumerate(lengths)
    ]
    config = EngineConfig(
        memory=memory_config(choice, num_blocks, block_size),
        scheduler=SchedulerConfig(watermark=watermark, max_num_seqs=max_num_seqs),
        max_len=max_len,
        step_ns=1,
    )
    return build_engine(config, requests, EventLog())


def sequence(id: int, prompt: int, output: int = 10, arrival: int = 0) -> Sequence:
    """A sequence that holds nothing yet."""
    return Sequence(Request(id, arrival, prompt, output))


def prefill(memory: KVAllocator, seq: Sequence) -> bool:
    """Makes room for the prompt and writes its KV; False if there is no room."""
    if not memory.allocate_slots(seq, seq.num_uncomputed):
        return False
    write(memory, seq)
    return True


def decode(memory: KVAllocator, seq: Sequence) -> bool:
    """Adds one token to the sequence and writes its KV; False if there is no room."""
    seq.num_tokens += 1
    if not memory.allocate_slots(seq, seq.num_uncomputed):
        seq.num_tokens -= 1
        return False
    write(memory, seq)
    return True


def write(memory: KVAllocator, seq: Sequence) -> None:
    """Writes the KV of all tokens of the sequence, for which there is room already."""
    seq.num_computed = seq.num_tokens
    memory.commit([seq])


def step(running: Engine, times: int = 1) -> list[Event]:
    """Runs so many steps, checks every invariant after each, and returns what happened in the last."""
    events: tuple[Event, ...] = ()
    for _ in range(times):
        running.log.drain()
        running.step()
        running.check()
        events = running.log.drain()
    return list(events)


def run(started: Engine, bound: int = 10_000) -> list[Event]:
    """Runs to the end, checks every invariant after each step, and returns all that happened.

    Raises:
        AssertionError: not done after `bound` steps.
    """
    events: list[Event] = []
    for _ in range(bound):
        if started.done:
            return events
        started.step()
        started.check()
        events += started.log.drain()
    raise AssertionError(f"not done after {bound} steps")
