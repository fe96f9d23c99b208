"""An engine whose clock is the roofline."""

from dataclasses import replace

import pytest

from pycore.assembly import build_cost_model, build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.cost_model import NO_DECODES, PAPER_KERNEL, Chunk, Decodes, Efficiency, FixedStep
from pycore.events import EventLog, NullLog, SwappedIn, SwappedOut
from pycore.memory.move import Move
from pycore.request import Request
from pycore.specs import A100_40GB, OPT_13B_GATED, Deployment

CONFIG = EngineConfig(
    memory=MemoryConfig(num_blocks=748, block_size=16), deployment=Deployment(OPT_13B_GATED, A100_40GB)
)


def test_without_a_deployment_steps_are_equal():
    assert isinstance(build_cost_model(EngineConfig()), FixedStep)


def test_one_request_takes_its_prefill_and_its_decodes():
    engine = build_engine(CONFIG, [Request(0, 0, prompt_len=100, output_len=40)], NullLog())
    while not engine.done:
        finished = engine.step()
    clock = build_cost_model(CONFIG)
    prefill_ns = clock.work_ns(NO_DECODES, [Chunk(0, 100)])
    assert finished[0].first_token_ns == prefill_ns
    assert engine.now_ns == prefill_ns + clock.stretch_ns(Decodes(1, 101), 39)


def test_blocks_that_are_swapped_take_their_time():
    """Three requests outgrow the pool; each block that goes out or comes in is one copy over the link."""
    memory = MemoryConfig(num_blocks=9, block_size=16, cpu_blocks=9)
    config = replace(CONFIG, memory=memory, scheduler=SchedulerConfig(recovery="swap", watermark=0))
    log = EventLog()
    engine = build_engine(config, [Request(i, 0, prompt_len=40, output_len=60) for i in range(3)], log)
    clock = build_cost_model(config)
    step_ns = []
    while not engine.done:
        before = engine.now_ns
        engine.step()
        swaps = [event for event in log.drain() if isinstance(event, SwappedOut | SwappedIn)]
        step_ns.append((engine.now_ns - before, sum(event.num_blocks for event in swaps)))
    assert any(blocks for _, blocks in step_ns)
    slowest = clock.work_ns(Decodes(3, 300))
    for ns, blocks in step_ns[1:]:
        copies_ns = clock.moves_ns([Move("out", 0, 0)] * blocks)
        assert copies_ns < ns <= copies_ns + slowest


@pytest.mark.parametrize(("mode", "slower"), [("paged", True), ("contiguous", False)])
def test_only_blocks_are_looked_up(mode, slower):
    memory = MemoryConfig(mode=mode, num_blocks=748, block_size=16)
    plain, curved = (
        build_cost_model(replace(CONFIG, memory=memory, efficiency=Efficiency(kernel=kernel)))
        for kernel in (None, PAPER_KERNEL)
    )
    work = Decodes(8, 8000)
    assert (curved.work_ns(work) > plain.work_ns(work)) == slower
