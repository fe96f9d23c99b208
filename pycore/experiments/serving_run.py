"""The run behind the experiments on serving: a load through one engine, in time, in slices.

Scenario A is the tight one of the vLLM paper and of the lecture: OPT-13B on an A100 with 40 GB, where weights
leave room for 748 blocks of KV, and chats as long as ShareGPT's. Prompts are computed first, in batches of
their own, and an admission leaves 1 % of the blocks free.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace

from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.experiments.experiment import Param, Preset
from pycore.experiments.result import PERCENT, REQUESTS, SECONDS, Column
from pycore.largest_rate import LargestRate, rates_to_try
from pycore.latency import Served, Slo
from pycore.replay import Replay
from pycore.replay_result import ReplayResult
from pycore.request import Request
from pycore.specs import A100_40GB, OPT_13B_GATED, Deployment, kv_capacity_blocks
from pycore.workload.poisson import SHAREGPT

BLOCK_SIZE = 16
TURNS_AT_ONCE = 64  # some milliseconds
SECOND_NS = 10**9
MANAGERS = ("max", "pow2", "oracle", "paged")
BUDDY = "oracle_buddy"  # Orca as the paper has it: final lengths known, regions placed by a buddy allocator

SCENARIO_A_BLOCKS = kv_capacity_blocks(OPT_13B_GATED, A100_40GB)
SCENARIO_A = EngineConfig(
    memory=MemoryConfig(num_blocks=SCENARIO_A_BLOCKS, block_size=BLOCK_SIZE),
    scheduler=SchedulerConfig(rules="prefill-first", watermark=0.01),
    max_len=SHAREGPT.max_len,
    deployment=Deployment(OPT_13B_GATED, A100_40GB),
)
SLO = Slo(ttft_ns=2 * SECOND_NS, tpot_ns=SECOND_NS // 10)

REQUESTS_A_SECOND = "experiment.unit.requests_a_second"
REQUESTS_A_MINUTE = "experiment.unit.requests_a_minute"
TOKENS_A_SECOND = "experiment.unit.tokens_a_second"
SCENARIO_A_PARAMS = (
    Param("rate", "int", 3, 1, 20, unit=REQUESTS_A_SECOND),
    Param("requests", "int", 400, 100, 2000, unit=REQUESTS),
    Param("seed", "int", 5, 0, 9999),
)
SCENARIO_A_PRESETS = (Preset("three_a_second", {}), Preset("other_seed", {"seed": 0}))

MANAGER = Column("experiment.column.manager", "key")
THROUGHPUT = Column("experiment.column.throughput", "float", TOKENS_A_SECOND)
MEAN_BATCH = Column("experiment.column.mean_batch", "float")
UTILISATION = Column("experiment.column.utilisation", "float", PERCENT)
ATTAINMENT = Column("experiment.column.attainment", "float", PERCENT)
PREEMPTIONS = Column("experiment.column.preemptions", "int")
LATENCY = Column("experiment.column.latency", "float", SECONDS)
TTFT_P50 = Column("experiment.column.ttft_p50", "float", SECONDS)
TTFT_P99 = Column("experiment.column.ttft_p99", "float", SECONDS)
RATE = Column("experiment.column.rate", "float", REQUESTS_A_SECOND)

Run = Generator[int, None, ReplayResult]


def manager_key(manager: str) -> str:
    """The name of a way to manage KV memory."""
    return f"experiment.manager.{manager}"


def under(config: EngineConfig, manager: str) -> EngineConfig:
    """The same engine over as many slots, managed otherwise: one of MANAGERS, or BUDDY."""
    memory = config.memory
    if manager == "paged":
        return replace(
            config, memory=MemoryConfig(num_blocks=memory.num_blocks, block_size=memory.block_size)
        )
    reservation, _, buddy = manager.partition("_")
    contiguous = MemoryConfig(
        mode="contiguous",
        num_blocks=memory.num_blocks,
        block_size=memory.block_size,
        reservation=reservation,
        placement=buddy or "first_fit",
    )
    return replace(config, memory=contiguous)


def serve(
    config: EngineConfig,
    load: Iterable[Request],
    slo: Slo = SLO,
    on_served: Callable[[Served], None] | None = None,
) -> Run:
    """Runs a load to its end, or as far as it ever gets; `on_served` is told of each request that finishes.

    Yields:
        Requests that have ended, every few milliseconds.
    """
    replay = Replay(config, load, slo=slo, on_served=on_served)
    while not replay.done:
        replay.advance(TURNS_AT_ONCE)
        yield replay.num_ended
    return replay.result()


def in_turn(runs: Iterable[tuple[object, Run]], num_runs: int, num_requests: int) -> Generator:
    """Runs loads of `num_requests` each, one after the other.

    Args:
        runs: by whatever tells them apart.
        num_runs: how many they are.
        num_requests: of each.

    Yields:
        Requests that have ended in all, and the requests of all.

    Returns:
        The results, by what tells them apart.
    """
    found = {}
    for i, (name, run) in enumerate(runs):
        found[name] = yield from shifted(run, i * num_requests, num_runs * num_requests)
    return found


def shifted(run: Run, before: int, total: int) -> Generator[tuple[int, int], None, ReplayResult]:
    """A run as a part of a longer work: yields (done, total)."""
    try:
        while True:
            done = next(run)
            yield before + done, total
    except StopIteration as end:
        return end.value
    finally:
        run.close()


def sustained(
    config: EngineConfig, seed: int, num: int, start: int, tolerance: int
) -> Generator[int, None, LargestRate]:
    """The largest rate at which 90 % of ShareGPT-like chats are inside the SLO.

    Args:
        config: the engine.
        seed, num: of the load.
        start: requests a second in thousandths to begin with.
        tolerance: in thousandths.

    Yields:
        Rates tried, many times each.
    """
    search = rates_to_try(start=start, tolerance=tolerance)
    rate, tried = next(search), 0
    while True:
        run = serve(config, SHAREGPT.requests(seed, num, rate / 1000))
        try:
            while True:
                next(run)
                yield tried
        except StopIteration as end:
            result = end.value
        finally:
            run.close()
        tried += 1
        try:
            rate = search.send(result)
        except StopIteration as end:
            return end.value


def in_use(result: ReplayResult) -> float:
    """Share of the KV space in use, or too torn to be used, that holds real tokens (vLLM paper, figure 2)."""
    mean = result.mean
    return mean["real"] / (mean["real"] + mean["reserved"] + mean["internal"] + mean["external"])


def seconds(ns: float) -> float:
    """As it is shown."""
    return round(ns / SECOND_NS, 2)
