"""A waiting request that is looked up in every step: its hits are counted again and again."""

from collections.abc import Mapping

from pycore.config import MemoryConfig
from pycore.experiments.admission_run import AdmissionRun, as_requests, run_admissions
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import COUNTING, HIT_RATE, HIT_TOKENS, LOOKED_UP, POOL_BLOCKS, Keys
from pycore.experiments.result import BLOCKS, Result, percent
from pycore.workload.common_prompt import common_prompt
from pycore.workload.few_shot import Exchange

_KEYS = Keys("retried_admission")

BLOCK = 8
LONG, SHARED, OWN, OUTPUT = 10, 64, (24, 40), (20, 40)  # requests behind a common beginning
SHORTS, SHORT, SHORT_OUTPUT = 2, (16, 32), (4, 8)  # after each of them, and how long they are
SWEEP = (24, 32, 40, 64, 200)  # blocks


def mixed(seed: int) -> list[Exchange]:
    """Long requests that share, each followed by short ones that do not."""
    long = common_prompt(seed, LONG, SHARED, OWN, OUTPUT)
    short = common_prompt(seed + 50, LONG * SHORTS, 0, SHORT, SHORT_OUTPUT)
    return [each for i in range(LONG) for each in (long[i], *short[i * SHORTS : (i + 1) * SHORTS])]


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs the load in the pool asked for, and in others.

    Progress counts runs.
    """
    load = mixed(settings["seed"])
    requests = as_requests(load, range(len(load)))
    found: dict[int, AdmissionRun] = {}
    sizes = tuple(dict.fromkeys((settings["blocks"], *SWEEP)))
    for i, blocks in enumerate(sizes):
        memory = MemoryConfig(num_blocks=blocks, block_size=BLOCK, prefix_cache="hash_chain")
        found[blocks] = run_admissions(requests, memory)
        yield i + 1, len(sizes)
    run = found[settings["blocks"]]
    tried = run.first + run.in_vain
    rates = {each: percent((found[each].first + found[each].in_vain).rate) for each in SWEEP}
    once = {each: percent(found[each].first.rate) for each in SWEEP}
    figures = {
        "requests": len(load),
        "blocks": settings["blocks"],
        "tries": tried.times,
        "in_vain": run.in_vain.times,
        "first_found": run.first.found,
        "tried_found": tried.found,
        "prompt_tokens": run.first.asked,
        "rate_first": percent(run.first.rate),
        "rate_tried": percent(tried.rate),
        "times": round(tried.found / max(1, run.first.found), 1),
        "lowest_tried": min(rates.values()),
        "highest_tried": max(rates.values()),
        "lowest_once": min(once.values()),
        "highest_once": max(once.values()),
    }
    counted = {"first": run.first, "tried": tried}
    rows = [
        (_KEYS.of(f"counting.{name}"), each.times, each.asked, each.found, percent(each.rate))
        for name, each in counted.items()
    ]
    columns = (COUNTING, _KEYS.column("times"), LOOKED_UP, HIT_TOKENS, HIT_RATE)
    values = {
        _KEYS.of("counting.tried"): list(rates.values()),
        _KEYS.of("counting.first"): list(once.values()),
    }
    tries = [found[each].first.times + found[each].in_vain.times for each in SWEEP]
    charts = (
        _KEYS.chart("rate", "line", POOL_BLOCKS, SWEEP, HIT_RATE, values),
        _KEYS.chart("tries", "line", POOL_BLOCKS, SWEEP, _KEYS.column("times"), tries),
    )
    return Result(settings, figures, (_KEYS.table("ways", columns, rows),), charts)


def _counted_many_times(result: Result) -> bool:
    figures = result.figures
    return figures["in_vain"] > 0 and figures["tried_found"] > 2 * figures["first_found"]


def _rate_inflated(result: Result) -> bool:
    return result.figures["rate_tried"] > result.figures["rate_first"]


def _once_it_stays(result: Result) -> bool:
    figures = result.figures
    once = figures["highest_once"] - figures["lowest_once"]
    return once < 1 < figures["highest_tried"] - figures["lowest_tried"]


RETRIED_ADMISSION = Experiment(
    name="retried_admission",
    subject="caching",
    params=(
        Param("blocks", "int", 24, 24, 400, unit=BLOCKS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("small_pool", {}),
        Preset("larger_pool", {"blocks": 32}),
        Preset("seed_3", {"seed": 3}),
    ),
    claims=(
        Claim("counted_many_times", "here", _counted_many_times),
        Claim("rate_inflated", "here", _rate_inflated),
        Claim("once_it_stays", "vllm_v1", _once_it_stays),
    ),
    measure=measure,
)
