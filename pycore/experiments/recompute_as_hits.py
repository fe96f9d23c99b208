"""What a preempted request finds are its own blocks: counted as hits, they make a small pool look good."""

from collections.abc import Mapping

from pycore.config import MemoryConfig
from pycore.experiments.admission_run import AdmissionRun, Found, as_requests, run_admissions
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import COUNTING, HIT_RATE, HIT_TOKENS, LOOKED_UP, POOL_BLOCKS, Keys
from pycore.experiments.result import BLOCKS, STEPS, TOKENS, Result, percent
from pycore.workload.common_prompt import common_prompt

_KEYS = Keys("recompute_as_hits")

BLOCK = 8
REQUESTS, OWN, OUTPUT = 16, (32, 48), (40, 70)
EVERY = 2  # steps from one arrival to the next
SWEEP = (24, 32, 48, 64, 96, 160)  # blocks


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs the load in the pool asked for, and in others.

    Progress counts runs.
    """
    load = common_prompt(settings["seed"], REQUESTS, settings["shared"], OWN, OUTPUT)
    requests = as_requests(load, range(0, REQUESTS * EVERY, EVERY))
    found: dict[int, AdmissionRun] = {}
    sizes = tuple(dict.fromkeys((settings["blocks"], *SWEEP)))
    for i, blocks in enumerate(sizes):
        memory = MemoryConfig(num_blocks=blocks, block_size=BLOCK, prefix_cache="hash_chain")
        found[blocks] = run_admissions(requests, memory)
        yield i + 1, len(sizes)
    run = found[settings["blocks"]]
    counted = {"first": run.first, "again": run.again, "all": run.first + run.again}
    small, large = found[SWEEP[0]], found[SWEEP[-1]]
    figures = {
        "shared": settings["shared"],
        "blocks": settings["blocks"],
        "preemptions": run.preemptions,
        "first_found": run.first.found,
        "first_asked": run.first.asked,
        "same": int(len({each.first.found for each in found.values()}) == 1),
        "sizes": len(found),
        "small": SWEEP[0],
        "large": SWEEP[-1],
        "small_all": percent((small.first + small.again).rate),
        "large_all": percent((large.first + large.again).rate),
        "small_steps": small.steps,
        "large_steps": large.steps,
        "large_preemptions": large.preemptions,
    }
    for name, each in counted.items():
        figures[f"rate_{name}"] = percent(each.rate)
    return Result(settings, figures, _tables(counted, found), _charts(found))


def _tables(counted: Mapping[str, Found], found: Mapping[int, AdmissionRun]) -> tuple:
    ways = [
        (_KEYS.of(f"counting.{name}"), each.asked, each.found, percent(each.rate))
        for name, each in counted.items()
    ]
    sizes = [
        (blocks, percent(run.first.rate), percent((run.first + run.again).rate), run.preemptions, run.steps)
        for blocks, run in sorted(found.items())
    ]
    columns = (
        POOL_BLOCKS,
        _KEYS.column("apart", "float", HIT_RATE.unit),
        _KEYS.column("together", "float", HIT_RATE.unit),
        _KEYS.column("preemptions"),
        _KEYS.column("steps", "int", STEPS),
    )
    return (
        _KEYS.table("ways", (COUNTING, LOOKED_UP, HIT_TOKENS, HIT_RATE), ways),
        _KEYS.table("sizes", columns, sizes),
    )


def _charts(found: Mapping[int, AdmissionRun]) -> tuple:
    rates = {
        _KEYS.of("counting.all"): [percent((found[each].first + found[each].again).rate) for each in SWEEP],
        _KEYS.of("counting.first"): [percent(found[each].first.rate) for each in SWEEP],
    }
    steps = [found[each].steps for each in SWEEP]
    return (
        _KEYS.chart("rate", "line", POOL_BLOCKS, SWEEP, HIT_RATE, rates),
        _KEYS.chart("steps", "line", POOL_BLOCKS, SWEEP, _KEYS.column("steps", "int", STEPS), steps),
    )


def _recompute_looks_like_hits(result: Result) -> bool:
    figures = result.figures
    return figures["preemptions"] > 0 and figures["rate_all"] > figures["rate_first"]


def _apart_it_stays(result: Result) -> bool:
    figures = result.figures
    return figures["same"] == 1 and (figures["first_found"] > 0) == (figures["shared"] >= BLOCK)


def _small_pool_looks_good(result: Result) -> bool:
    figures = result.figures
    return figures["small_all"] > figures["large_all"] and figures["small_steps"] > figures["large_steps"]


RECOMPUTE_AS_HITS = Experiment(
    name="recompute_as_hits",
    subject="caching",
    params=(
        Param("blocks", "int", 32, 24, 200, unit=BLOCKS),
        Param("shared", "int", 0, 0, 48, unit=TOKENS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("nothing_shared", {}),
        Preset("a_prefix_shared", {"shared": 32}),
        Preset("other_seed", {"seed": 1, "blocks": 48}),
    ),
    claims=(
        Claim("recompute_looks_like_hits", "vllm_v1", _recompute_looks_like_hits),
        Claim("apart_it_stays", "vllm_v1", _apart_it_stays),
        Claim("small_pool_looks_good", "here", _small_pool_looks_good),
    ),
    measure=measure,
)
