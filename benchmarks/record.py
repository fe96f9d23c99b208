"""What recording a run costs: CPU time, memory, and the size of the page's columns.

    python -m benchmarks.record [--rounds N] [--json]

First the page's own run, 90 steps × 64 blocks of the chat-burst load, in each way to manage memory; then
the growth to 4,096 blocks and 2,000 steps. There the load is repeated, side by side for more blocks and one
after the other for more steps, so that the pool stays as full as it is on the page.
"""

import gc
import json
import tracemalloc
import zlib
from collections.abc import Sequence
from itertools import count

from app.backend.columns import recording_columns
from benchmarks.command_line import options_of, print_report
from benchmarks.stopwatch import alternate, machine
from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import EventLog
from pycore.memory.contiguous import RESERVATIONS
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.placement import PLACEMENTS
from pycore.recorder import Recording, record
from pycore.request import Request
from pycore.workload.synthetic import chat_burst

GOAL_MS = 10.0
SEED = 5
STEP_NS = 50_000_000
STEPS = 90
BLOCKS = 64
MAX_LEN = 64
WAYS = [{"mode": "paged", "free_order": order} for order in FREE_ORDERS] + [
    {"mode": "contiguous", "reservation": reservation, "placement": placement}
    for reservation in RESERVATIONS
    for placement in PLACEMENTS
]
GROWTH = [(64, 90), (256, 90), (1024, 90), (4096, 90), (64, 500), (64, 2000), (1024, 2000)]
WHOLE = (4096, 2000)


def scaled_load(num_blocks: int, num_steps: int) -> tuple[Request, ...]:
    """Chat bursts for a pool `num_blocks / 64` times as large, begun anew every 90 steps; ids by arrival."""
    seeds = count(SEED)
    drawn = [
        (request.arrival_ns + start * STEP_NS, request.prompt_len, request.output_len)
        for start in range(0, num_steps, STEPS)
        for _ in range(0, num_blocks, BLOCKS)
        for request in chat_burst(next(seeds), STEP_NS).requests
    ]
    drawn.sort(key=lambda fields: fields[0])
    return tuple(Request(i, *fields) for i, fields in enumerate(drawn))


def run(way: dict[str, str], num_blocks: int, num_steps: int, requests: Sequence[Request]) -> Recording:
    """Records one run from scratch."""
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=num_blocks, **way),
        scheduler=SchedulerConfig(max_num_seqs=num_blocks),
        max_len=MAX_LEN,
        step_ns=STEP_NS,
    )
    return record(build_engine(config, requests, EventLog()), num_steps)


def measure_page(rounds: int) -> list[dict]:
    """The page's run, once for each way: CPU ms, median."""
    requests = scaled_load(BLOCKS, STEPS)
    works = {
        " ".join(way.values()): lambda way=way: lambda: run(way, BLOCKS, STEPS, requests) for way in WAYS
    }
    return [
        {"way": name, "ms": round(timing.median * 1e3, 2), "spread": round(timing.spread, 2)}
        for name, timing in alternate(works, rounds).items()
    ]


def measure_growth(num_blocks: int, num_steps: int, rounds: int) -> dict:
    """One size, paged: time, time a step and a running sequence, bytes kept, columns as JSON."""
    requests = scaled_load(num_blocks, num_steps)
    way = WAYS[0]
    timing = alternate({"": lambda: lambda: run(way, num_blocks, num_steps, requests)}, rounds)[""]
    gc.collect()
    tracemalloc.start()
    recording = run(way, num_blocks, num_steps, requests)
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    running = sum(frame.num_running for frame in recording.frames) / len(recording)
    used = sum(frame.memory.used for frame in recording.frames[1:]) / num_steps
    columns = json.dumps(recording_columns(recording, requests, way["mode"], MAX_LEN), separators=(",", ":"))
    seconds = timing.median
    return {
        "blocks": num_blocks,
        "steps": num_steps,
        "running": round(running, 1),
        "full": round(used / recording[0].memory.capacity, 2),
        "ms": round(seconds * 1e3, 1),
        "us_a_step": round(seconds * 1e6 / num_steps, 1),
        "us_a_running_seq": round(seconds * 1e6 / num_steps / running, 2),
        "kept_kb": round(kept / 1e3),
        "columns_kb": round(len(columns.encode()) / 1e3),
        "columns_zlib_kb": round(len(zlib.compress(columns.encode(), 6)) / 1e3),
    }


def show(report: dict) -> None:
    """Prints the report as plain tables."""
    print(report["machine"])
    print(f"\n{STEPS} steps × {BLOCKS} blocks (goal {GOAL_MS:.0f} ms)".ljust(42) + "    CPU ms   spread")
    for row in report["page"]:
        late = "" if row["ms"] <= GOAL_MS else "  over the goal"
        print(f"  {row['way']:<36}{row['ms']:>12.2f}{row['spread']:>9.0%}{late}")
    head = (
        "blocks",
        "steps",
        "running",
        "full",
        "CPU ms",
        "µs/step",
        "µs/step/seq",
        "kept kB",
        "JSON kB",
        "zlib kB",
    )
    print("\n" + "".join(f"{name:>12}" for name in head))
    for row in report["growth"]:
        print("".join(f"{value:>12,}" for value in row.values()))


def main() -> None:
    """Reads the options, measures, prints."""
    parser = options_of("record", __doc__, rounds=9)
    parser.add_argument(
        "--whole", action="store_true", help="also 4,096 blocks × 2,000 steps: some minutes, GBs"
    )
    options = parser.parse_args()
    sizes = [*GROWTH, WHOLE] if options.whole else GROWTH
    report = {
        "version": 1,
        "machine": machine(),
        "page": measure_page(options.rounds),
        "growth": [measure_growth(*size, 3 if size[0] * size[1] < 100_000 else 1) for size in sizes],
    }
    print_report(report, show, options.json)


if __name__ == "__main__":
    main()
