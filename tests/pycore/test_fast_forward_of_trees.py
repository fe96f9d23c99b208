"""A leap is stepping also over a radix tree, under SGLang's rules, and for every order of the queue."""

from hypothesis import given
from hypothesis import strategies as st

from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.prompt import Prompt
from pycore.request import Request
from pycore.scheduling.queue_order import CACHE_AWARE, OrderRules
from pycore.scheduling.rules import RULES
from tests.pycore.test_fast_forward import MAX_LEN, assert_equal_runs, many


@st.composite
def loads(draw) -> list[Request]:
    """Prompts of few different tokens, so that they meet; some say nothing."""
    requests, arrival = [], 0
    for id in range(draw(st.integers(1, 12))):
        length, output = draw(st.integers(1, 30)), draw(st.integers(1, 34))
        shared = draw(st.integers(0, length))
        tokens = (7,) * shared + tuple(100 + 40 * id + at for at in range(length - shared))
        prompt = draw(st.sampled_from([Prompt(tokens), Prompt(tokens), None]))
        requests.append(Request(id, arrival, length, output, prompt=prompt, priority=draw(st.integers(0, 2))))
        arrival += draw(st.sampled_from([0, 0, 1, 3, 9, 40]))
    return requests


@st.composite
def configs(draw) -> EngineConfig:
    name = draw(st.sampled_from(["sglang", "sglang", "classic"]))
    rules = RULES[name]
    cache = draw(st.sampled_from(["radix", "radix", "none"]))
    queues = [queue for queue in rules.queues if cache == "radix" or queue not in CACHE_AWARE]
    memory = MemoryConfig(
        num_blocks=draw(st.integers(4, 40)),
        block_size=4,
        page_size=draw(st.sampled_from([1, 2, 4])),
        prefix_cache=cache,
        eviction=draw(st.sampled_from(["lru", "lfu", "filo"])),
    )
    scheduler = SchedulerConfig(
        rules=name,
        queue=draw(st.sampled_from(queues)),
        order=OrderRules(lpm_limit=4, in_batch_check=2, in_batch_shared=2, longest_wait=9),
        token_budget=draw(st.sampled_from([None, 3, 16])) if rules.chunked else None,
        conservativeness=draw(st.sampled_from([1.0, 0.2, 0.0])),
        max_num_seqs=draw(st.sampled_from([2, 256])),
    )
    return EngineConfig(memory, scheduler, max_len=MAX_LEN, step_ns=1)


@many
@given(config=configs(), load=loads())
def test_leaps_equal_steps_over_a_tree_and_under_sglang_rules(config, load):
    assert_equal_runs(config, load)
