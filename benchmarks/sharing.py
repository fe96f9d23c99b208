"""What sharing costs beside plain allocation, in one run.

    python -m benchmarks.sharing [--rounds N] [--json]

CPU time, medians of alternating rounds:
    fork     a sequence of 2,000 tokens at block 16 is forked, and the fork freed
    copies   one million tokens, each the first that a fork writes into a shared block of 16
    in place one million tokens, each into a block that nobody shares: the same calls, and no copy
    blocks   one million blocks of the bare pool, one at a time
"""

import argparse
import json
from collections.abc import Callable

from benchmarks.stopwatch import alternate, machine
from pycore.events import NullLog
from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.paged import PagedAllocator
from pycore.request import Request, Sequence
from pycore.rng import Rng

NUM = 1_000_000
FORKS = 20_000
AT_ONCE = 1_000  # forks that wait for their first token; each needs a block of its own
BLOCK_SIZE = 16
LONG = 2_000  # tokens
SHORT = 24  # tokens: the second block is half full


def allocator(num_blocks: int) -> PagedAllocator:
    """An empty pool, last freed block first."""
    pool = BlockPool(num_blocks, FREE_ORDERS["lifo"](range(num_blocks), Rng(0)))
    return PagedAllocator(pool, BLOCK_SIZE, NullLog())


def written(memory: PagedAllocator, num_tokens: int) -> Sequence:
    """A sequence whose tokens are all in memory."""
    seq = Sequence(Request(0, 0, num_tokens, 64, 2, "parallel"))
    assert memory.allocate_slots(seq, num_tokens)
    seq.num_computed = num_tokens
    memory.commit([seq])
    return seq


def fork() -> Callable[[], None]:
    """Forks and frees, FORKS times."""
    memory = allocator(-(-LONG // BLOCK_SIZE))
    parent = written(memory, LONG)
    child = parent.fork(1, 1)

    def work() -> None:
        for _ in range(FORKS):
            memory.fork(parent, child)
            memory.free(child)

    return work


def appends(shared: bool) -> Callable[[], None]:
    """First tokens of AT_ONCE sequences at a time, forks of one parent or not, NUM in all.

    Only the appends differ between the two kinds; what is around them is timed too, in both: each sequence
    gets its table, writes its token, and is freed.
    """
    memory = allocator(2 + 2 * AT_ONCE)
    parent = written(memory, SHORT)
    children = []
    for i in range(1, AT_ONCE + 1):
        child = Sequence(Request(i, 0, SHORT, 64, 2, "parallel"))
        child.num_tokens = SHORT + 1
        children.append(child)

    def work() -> None:
        for _ in range(NUM // AT_ONCE):
            for child in children:
                child.num_computed = SHORT if shared else 0
                if shared:
                    memory.fork(parent, child)
                else:
                    assert memory.allocate_slots(child, SHORT)
                    child.num_computed = SHORT
            for child in children:
                assert memory.allocate_slots(child, 1)
                child.num_computed += 1
                memory.commit([child])
            assert len(memory.take_moves()) == (AT_ONCE if shared else 0)
            for child in children:
                memory.free(child)

    return work


def blocks() -> Callable[[], None]:
    """NUM blocks, one at a time."""
    pool = allocator(1).pool

    def work() -> None:
        for _ in range(NUM):
            pool.free(pool.allocate(1))

    return work


LOADS = {
    "fork": (fork, FORKS),
    "copies": (lambda: appends(shared=True), NUM),
    "in place": (lambda: appends(shared=False), NUM),
    "blocks": (blocks, NUM),
}


def measure(rounds: int) -> dict:
    """Millions a CPU second by load, and how often the cost of a bare block each of them is."""
    timings = alternate({name: prepare for name, (prepare, _) in LOADS.items()}, rounds)
    seconds = {name: timing.median / LOADS[name][1] for name, timing in timings.items()}
    return {
        "version": 1,
        "machine": machine(),
        "rows": [
            {
                "load": name,
                "rate": round(1e-6 / seconds[name], 3),
                "unit": "M/s",
                "spread": round(timing.spread, 2),
                "of_a_block": round(seconds[name] / seconds["blocks"], 1),
            }
            for name, timing in timings.items()
        ],
    }


def main() -> None:
    """Reads the options, measures, prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sharing", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds a load (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    report = measure(options.rounds)
    if options.json:
        print(json.dumps(report, indent=1))
        return
    print(report["machine"])
    print(f"{'load':<12}{'M a second':>12}{'spread':>9}{'× a bare block':>17}")
    for row in report["rows"]:
        print(f"{row['load']:<12}{row['rate']:>12.3f}{row['spread']:>9.0%}{row['of_a_block']:>17.1f}")


if __name__ == "__main__":
    main()
