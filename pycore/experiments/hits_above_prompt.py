"""Hits added up over all admissions of a request: more tokens found than its prompt has."""

from collections.abc import Mapping

from pycore.config import MemoryConfig
from pycore.experiments.admission_run import as_requests, run_admissions
from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import COUNTING, HIT_RATE, HIT_TOKENS, LOOKED_UP, Keys
from pycore.experiments.result import BLOCKS, TOKENS, Result, percent
from pycore.workload.common_prompt import common_prompt

_KEYS = Keys("hits_above_prompt")

BLOCK = 8
REQUESTS, OWN, OUTPUT = 16, (32, 48), (40, 70)
EVERY = 2  # steps from one arrival to the next


def measure(settings: Mapping[str, Setting]) -> Work:
    """Runs the load once. Progress counts runs."""
    load = common_prompt(settings["seed"], REQUESTS, settings["shared"], OWN, OUTPUT)
    memory = MemoryConfig(num_blocks=settings["blocks"], block_size=BLOCK, prefix_cache="hash_chain")
    run = run_admissions(as_requests(load, range(0, REQUESTS * EVERY, EVERY)), memory)
    yield 1, 1
    prompts = [len(each.prompt) for each in load]
    most = max(range(REQUESTS), key=lambda i: run.hits[i] - prompts[i])
    found, asked = run.first.found + run.again.found, run.first.asked + run.again.asked
    counted = {
        "prompts": (run.first.asked, found),
        "all": (asked, found),
        "first": (run.first.asked, run.first.found),
    }
    figures = {
        "requests": REQUESTS,
        "blocks": settings["blocks"],
        "preemptions": run.preemptions,
        "above": sum(run.hits[i] > prompts[i] for i in range(REQUESTS)),
        "above_first": sum(run.first_hits[i] >= prompts[i] for i in range(REQUESTS)),
        "most": run.hits[most],
        "most_prompt": prompts[most],
        "most_name": f"r{most}",
        "found": found,
        "prompt_tokens": run.first.asked,
        "asked": asked,
    }
    for name, (of, tokens) in counted.items():
        figures[f"rate_{name}"] = percent(tokens / of)
    rows = [
        (_KEYS.of(f"counting.{name}"), of, tokens, percent(tokens / of))
        for name, (of, tokens) in counted.items()
    ]
    per_request = _KEYS.column("request"), _KEYS.column("tokens", "int", TOKENS)
    values = {
        _KEYS.of("series.prompt"): prompts,
        _KEYS.of("series.hits"): [run.hits[i] for i in range(REQUESTS)],
        _KEYS.of("series.first"): [run.first_hits[i] for i in range(REQUESTS)],
    }
    chart = _KEYS.chart("requests", "bar", per_request[0], range(REQUESTS), per_request[1], values)
    table = _KEYS.table("ways", (COUNTING, LOOKED_UP, HIT_TOKENS, HIT_RATE), rows)
    return Result(settings, figures, (table,), (chart,))


def _more_than_the_prompt(result: Result) -> bool:
    return result.figures["above"] > 0 and result.figures["most"] > result.figures["most_prompt"]


def _above_a_hundred(result: Result) -> bool:
    return result.figures["rate_prompts"] > 100


def _counted_once(result: Result) -> bool:
    figures = result.figures
    return figures["above_first"] == 0 and figures["rate_first"] < figures["rate_all"] < 100


HITS_ABOVE_PROMPT = Experiment(
    name="hits_above_prompt",
    subject="caching",
    params=(
        Param("blocks", "int", 24, 24, 200, unit=BLOCKS),
        Param("shared", "int", 32, 0, 48, unit=TOKENS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("small_pool", {}),
        Preset("longer_prefix", {"shared": 48}),
        Preset("other_seed", {"seed": 1}),
    ),
    claims=(
        Claim("more_than_the_prompt", "users", _more_than_the_prompt),
        Claim("above_a_hundred", "here", _above_a_hundred),
        Claim("counted_once", "vllm_v1", _counted_once),
    ),
    measure=measure,
)
