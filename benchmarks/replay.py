"""How fast traces are replayed: leaps, steps, and a simulator of requests, side by side.

    python -m benchmarks.replay AZURE_CSV [--peer-path DIR] [--flat] [--rounds N]

Llama-3-8B on an A100 with 80 GB, as much KV as it has room for, vLLM V1's rules with 2,048 tokens a step. The
first 2,000 requests, and with `--whole` the whole file; CPU time, reading the file not counted, and the most
memory of a process that reads and replays it. `--flat` replays a synthetic load of 1,000 to 1,000,000
requests, of which only those in the engine exist at a time.

The peer is vllm-sr-sim, where it is installed or lies below `--peer-path`: it gives each request a time when
it starts and simulates no step, so it says less. Vidur and BLIS simulate steps; their rates were measured
elsewhere (145 and 400 requests per CPU second, one shared core, ± 30 %).
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time

from benchmarks.stopwatch import Timing, alternate, machine
from pycore.capacity import capacity
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.latency import Served
from pycore.replay import Replay
from pycore.replay_result import ReplayResult
from pycore.request import Request
from pycore.specs import Deployment, find_gpu, find_model
from pycore.workload.lognormal import Lengths
from pycore.workload.poisson import PoissonLoad
from pycore.workload.trace_file import read_trace_path

FIRST = 2000
BLOCK_SIZE = 16
GOAL_LEAPS, GOAL_STEPS, GOAL_WHOLE_SECONDS, GOAL_MB = 5000, 400, 6, 100
# Conversations as long as Azure's, at about the rate of its trace.
SYNTHETIC = PoissonLoad(Lengths(1155, 1.0, 1, 8000), Lengths(211, 0.7, 1, 1000), 9000)
SYNTHETIC_RATE = 5.0
NO_END = 1 << 60


def engine_config() -> EngineConfig:
    """The engine that is replayed."""
    deployment = Deployment(find_model("Llama-3-8B"), find_gpu("A100-80GB"))
    return EngineConfig(
        memory=MemoryConfig(num_blocks=capacity(deployment).num_blocks, block_size=BLOCK_SIZE),
        scheduler=SchedulerConfig(rules="vllm-v1", token_budget=2048),
        max_len=32_768,
        deployment=deployment,
    )


def replay(
    requests: Iterable[Request], leaps: bool = True, on_served: Callable[[Served], None] | None = None
) -> ReplayResult:
    """Runs all requests to their end."""
    running = Replay(engine_config(), requests, leaps=leaps, on_served=on_served)
    running.advance(NO_END)
    return running.result()


def first_requests(path: Path, limit: int | None) -> tuple[Request, ...]:
    """Of a trace file."""
    return read_trace_path(path, limit).requests


def peer_fleet() -> Callable[[tuple[Request, ...]], object] | None:
    """Runs requests through vllm-sr-sim, one A100 with 80 GB; None where it is not installed."""
    try:
        from fleet_sim.core.fleet import Fleet, FleetConfig, PoolConfig
        from fleet_sim.core.request import Request as PeerRequest
        from fleet_sim.gpu_profiles.profiles import A100_80GB
    except ImportError:
        return None

    def run(requests: tuple[Request, ...]) -> object:
        pool = PoolConfig(pool_id="one", gpu=A100_80GB, n_gpus=1, max_ctx=8192)
        fleet = Fleet(FleetConfig(pools=[pool], router_type="RandomRouter"))
        load = [
            (r.arrival_ns / 1e9, PeerRequest(r.id, r.arrival_ns / 1e9, r.prompt_len, r.output_len))
            for r in requests
        ]
        return fleet.run(load)

    return run


def report_first(requests: tuple[Request, ...], rounds: int) -> None:
    """Leaps, steps and the peer in turn; the results of the first two must be equal."""
    assert replay(requests) == replay(requests, leaps=False), "leaps and steps differ"
    contenders: dict[str, Callable[[], Callable[[], object]]] = {
        "leaps": lambda: lambda: replay(requests),
        "steps": lambda: lambda: replay(requests, leaps=False),
    }
    peer = peer_fleet()
    if peer is not None:
        contenders["vllm-sr-sim"] = lambda: lambda: peer(requests)
    timings = alternate(contenders, rounds)
    goals = {
        "leaps": f"goal {GOAL_LEAPS:,}",
        "steps": f"goal {GOAL_STEPS}",
        "vllm-sr-sim": "requests, no steps",
    }
    print(f"first {len(requests):,} requests, requests per CPU second (leaps and steps give equal results)")
    for name, timing in timings.items():
        print(f"  {name:12} {rate(timing, requests):>8,.0f}   ± {timing.spread:.0%}   {goals[name]}")
    if peer is None:
        print("  vllm-sr-sim is not installed: pip install --target DIR vllm-sr-sim, then --peer-path DIR")


def rate(timing: Timing, requests: tuple[Request, ...]) -> float:
    """Requests per CPU second."""
    return len(requests) / timing.median


def report_whole(path: Path, rounds: int) -> None:
    """The whole file with leaps."""
    requests = first_requests(path, None)
    timing = alternate({"leaps": lambda: lambda: replay(requests)}, rounds)["leaps"]
    print(f"whole file, {len(requests):,} requests: {timing.median:.2f} CPU s (goal {GOAL_WHOLE_SECONDS})")


def report_memory(path: Path) -> None:
    """The most memory of a process that reads the first requests and replays them."""
    child = (
        "import resource, sys; from pathlib import Path;"
        "from benchmarks.replay import first_requests, replay, FIRST;"
        "replay(first_requests(Path(sys.argv[1]), FIRST));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    out = subprocess.run(
        [sys.executable, "-c", child, str(path)], capture_output=True, text=True, check=True
    ).stdout
    print(f"peak memory, first {FIRST:,}: {int(out) / 1024:.0f} MB (goal {GOAL_MB})")


def report_flat(sizes: Iterable[int]) -> None:
    """Cost a request of a synthetic load, by its size; the requests are made on the way and not kept."""
    print("synthetic load, cost a request (making it included)")
    for size in sizes:
        told = [0]

        def count(_: Served, told: list[int] = told) -> None:
            told[0] += 1

        start = process_time()
        result = replay(SYNTHETIC.requests(5, size, SYNTHETIC_RATE), on_served=count)
        spent = process_time() - start
        assert told[0] + result.num_rejected == size
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cost = f"{spent / size * 1e6:6.0f} µs   {size / spent:8,.0f} requests/s"
        print(f"  {size:>9,} requests   {cost}   {most:5.0f} MB at most so far", flush=True)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trace", type=Path, help="the Azure conversation trace of 2023, CSV")
    parser.add_argument("--peer-path", type=Path, help="a folder into which vllm-sr-sim was installed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="the whole file, too")
    parser.add_argument(
        "--flat", type=int, nargs="?", const=1_000_000, default=0, help="synthetic, up to so many"
    )
    options = parser.parse_args()
    if options.peer_path:
        sys.path.append(str(options.peer_path))
    print(machine())
    report_first(first_requests(options.trace, FIRST), options.rounds)
    if options.whole:
        report_whole(options.trace, options.rounds)
    report_memory(options.trace)
    if options.flat:
        report_flat(size for size in (1000, 10_000, 100_000, 1_000_000) if size <= options.flat)


if __name__ == "__main__":
    main()
