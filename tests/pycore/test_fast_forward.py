"""A leap is stepping, to the nanosecond and to the block."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import EventLog, Waiting
from pycore.fast_forward import FastForward
from pycore.prompt import Prompt
from pycore.replay import Replay
from pycore.request import Request
from pycore.scheduling.policies import VICTIM
from tests.pycore.build import MEMORY_CHOICES, memory_config

MAX_LEN = 64
LENGTHS = st.lists(
    st.tuples(st.integers(1, 30), st.integers(1, 34), st.sampled_from([0, 0, 1, 3, 9, 40])), max_size=12
)


def requests(lengths, groups=(), prompts=None, answers=False):
    load, arrival = [], 0
    for id, (prompt, output, gap) in enumerate(lengths):
        arrival += gap
        num_seqs, decoding = groups[id % len(groups)] if groups else (1, "plain")
        said = Prompt(tuple(prompts[id % len(prompts)][:1] * prompt)) if prompts else None
        answer = said.tokens[:1] * output if answers else None  # what others' prompts go on with
        load.append(Request(id, arrival, prompt, output, num_seqs, decoding, prompt=said, answer=answer))
    return load


class SlowingStep:
    """A step takes longer the more keys there are, so that an arrival falls anywhere."""

    needs_lengths = True

    def step_ns(self, batch):
        return 1 + sum(seq.num_computed + n for seq, n in zip(batch.seqs, batch.num_new, strict=True)) // 16

    def work_ns(self, decodes, chunks=()):
        return 1 + decodes.keys // 16

    def stretch_ns(self, decodes, steps):
        assert sum(decodes.lengths) == decodes.keys
        return sum(1 + decodes.after(i).keys // 16 for i in range(steps))

    def begun_within(self, decodes, ns, limit):
        steps = max(n for n in range(1, limit + 1) if self.stretch_ns(decodes, n - 1) < ns)
        return steps, self.stretch_ns(decodes, steps)


def told(config, load, leaps):
    """Everything that happens but waiting, when each finished, and the engine at the end."""
    engine = build_engine(config, load, EventLog())
    engine.cost_model = SlowingStep()
    fast_forward = FastForward(engine)
    finished, num_leaps = [], 0
    while not engine.done and not engine.scheduler.stuck:
        assert engine.num_steps < 3000, "the run does not end"
        engine.skip_idle()
        leapt = fast_forward.leap(1000) if leaps else None
        seqs = leapt[1] if leapt else engine.step()
        num_leaps += leapt is not None
        engine.check()
        finished += [(seq.id, seq.finished_ns, seq.first_token_ns, tuple(seq.tokens or ())) for seq in seqs]
    events = [event for event in engine.log.drain() if not isinstance(event, Waiting)]
    scheduler = engine.scheduler
    totals = (engine.now_ns, engine.num_steps, scheduler.num_preemptions, scheduler.num_recomputed)
    return (events, finished, totals, engine.allocator.memory_map()), num_leaps


def replayed(config, load, leaps):
    """All that a replay tells: of each request, and in the end."""
    served = []
    replay = Replay(config, load, leaps=leaps, on_served=served.append)
    for _ in range(3000):
        if replay.done:
            break
        replay.advance(7)
    return served, replay.result(), replay.percentiles()


def assert_equal_runs(config, load):
    stepped, _ = told(config, load, leaps=False)
    leapt, _ = told(config, load, leaps=True)
    assert leapt == stepped
    assert replayed(config, load, leaps=True) == replayed(config, load, leaps=False)


many = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.generate, Phase.target),
)


@pytest.mark.parametrize("choice", MEMORY_CHOICES)
@many
@given(
    num_blocks=st.integers(4, 30),
    block_size=st.integers(1, 6),
    watermark=st.sampled_from([0, 0.1, 0.5]),
    max_num_seqs=st.sampled_from([1, 3, 256]),
    rules=st.sampled_from(["classic", "prefill-first", "chunked"]),
    lengths=LENGTHS,
)
def test_leaps_equal_steps_in_any_memory(
    choice, num_blocks, block_size, watermark, max_num_seqs, rules, lengths
):
    budget = 5 if rules == "chunked" else None
    config = EngineConfig(
        memory=memory_config(choice, num_blocks, block_size),
        scheduler=SchedulerConfig(
            watermark=watermark, max_num_seqs=max_num_seqs, rules=rules, token_budget=budget
        ),
        max_len=MAX_LEN,
        step_ns=1,
    )
    assert_equal_runs(config, requests(lengths))


@many
@given(
    num_blocks=st.integers(4, 30),
    block_size=st.integers(1, 6),
    rules=st.sampled_from(["classic", "prefill-first"]),
    victim=st.sampled_from(sorted(VICTIM)),
    queue=st.sampled_from(["fcfs", "priority", "shortest"]),
    lengths=LENGTHS,
)
def test_leaps_equal_steps_whoever_is_first_and_whoever_gives_way(
    num_blocks, block_size, rules, victim, queue, lengths
):
    load = [replace(request, priority=request.output_len % 3) for request in requests(lengths)]
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=num_blocks, block_size=block_size),
        scheduler=SchedulerConfig(rules=rules, victim=victim, queue=queue),
        max_len=MAX_LEN,
        step_ns=1,
    )
    assert_equal_runs(config, load)


@pytest.mark.parametrize("rules", ["classic", "prefill-first", "vllm-v0"])
@many
@given(
    num_blocks=st.integers(4, 40),
    block_size=st.integers(1, 6),
    recovery=st.sampled_from(["recompute", "swap"]),
    groups=st.lists(
        st.sampled_from([(1, "plain"), (2, "parallel"), (3, "parallel"), (2, "beam")]), min_size=1, max_size=3
    ),
    lengths=LENGTHS,
)
def test_leaps_equal_steps_with_groups_and_swapping(rules, num_blocks, block_size, recovery, groups, lengths):
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=num_blocks, block_size=block_size, cpu_blocks=20),
        scheduler=SchedulerConfig(rules=rules, recovery=recovery, max_num_seqs=8),
        max_len=MAX_LEN,
        step_ns=1,
    )
    assert_equal_runs(config, requests(lengths, groups))


@many
@given(
    num_blocks=st.integers(4, 40),
    block_size=st.integers(1, 6),
    budget=st.sampled_from([None, 1, 3, 16]),
    chunk=st.sampled_from([None, None, 1, 4]),
    queue=st.sampled_from(["fcfs", "priority"]),
    reserve=st.booleans(),
    rules=st.sampled_from(["vllm-v1", "chunked"]),
    lengths=LENGTHS,
)
def test_leaps_equal_steps_under_a_token_budget(
    num_blocks, block_size, budget, chunk, queue, reserve, rules, lengths
):
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=num_blocks, block_size=block_size),
        scheduler=SchedulerConfig(
            rules=rules, queue=queue, token_budget=budget, chunk_limit=chunk, reserve_full_prompt=reserve
        ),
        max_len=MAX_LEN,
        step_ns=1,
    )
    assert_equal_runs(config, requests(lengths))


@pytest.mark.parametrize("cache", ["hash_chain"])
@many
@given(
    num_blocks=st.integers(4, 40),
    block_size=st.integers(1, 6),
    uncached_first=st.booleans(),
    rules=st.sampled_from(["classic", "prefill-first", "vllm-v1"]),
    answers=st.booleans(),
    lengths=LENGTHS,
)
def test_leaps_equal_steps_with_a_prefix_cache(
    cache, num_blocks, block_size, uncached_first, rules, answers, lengths
):
    config = EngineConfig(
        memory=MemoryConfig(
            num_blocks=num_blocks, block_size=block_size, prefix_cache=cache, uncached_first=uncached_first
        ),
        scheduler=SchedulerConfig(rules=rules),
        max_len=MAX_LEN,
        step_ns=1,
    )
    assert_equal_runs(config, requests(lengths, prompts=[(1,), (2,), (1,)], answers=answers))


def test_one_leap_from_the_first_token_to_the_last():
    config = EngineConfig(memory=MemoryConfig(num_blocks=40), step_ns=5)
    engine = build_engine(config, [Request(0, 0, 3, 50), Request(1, 100, 3, 50)], EventLog())
    assert FastForward(engine).leap(1000) is None
    engine.step()
    stretch, finished = FastForward(engine).leap(1000)
    assert stretch.num_steps == 19  # the last begins at 95, before r1 arrives at 100
    assert not finished
    assert engine.now_ns == 100
    assert FastForward(engine).leap(1000) is None  # r1 has to be let in
    engine.step()
    stretch, finished = FastForward(engine).leap(1000)
    assert stretch.num_steps == 50 - 21
    assert [seq.id for seq in finished] == [0]


def test_a_leap_stops_before_the_step_that_lacks_a_block():
    config = EngineConfig(memory=MemoryConfig(num_blocks=4, block_size=4), step_ns=5)
    engine = build_engine(config, [Request(0, 0, 3, 12), Request(1, 0, 3, 12)], EventLog())
    engine.step()
    stretch, _ = FastForward(engine).leap(1000)
    assert (stretch.num_steps, engine.allocator.num_free) == (5, 0)
    assert FastForward(engine).leap(1000) is None
    engine.step()
    assert engine.scheduler.num_preemptions == 1


@many
@given(
    num_blocks=st.integers(4, 40),
    block_size=st.integers(1, 6),
    budget=st.sampled_from([None, 2, 7, 16]),
    recovery=st.sampled_from(["recompute", "swap"]),
    victim=st.sampled_from(sorted(VICTIM)),
    reserve=st.booleans(),
    late_group=st.booleans(),
    lengths=LENGTHS,
)
def test_leaps_that_only_count_equal_steps_when_memory_runs_out_in_the_middle_of_prompts(
    num_blocks, block_size, budget, recovery, victim, reserve, late_group, lengths
):
    load = requests(lengths)
    if late_group and load:  # all that was only counted so far has to be looked at from here on
        load.append(Request(len(load), load[-1].arrival_ns + 5, 6, 20, 2, "parallel"))
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=num_blocks, block_size=block_size, cpu_blocks=20),
        scheduler=SchedulerConfig(
            rules="chunked",
            token_budget=budget,
            recovery=recovery,
            victim=victim,
            reserve_full_prompt=reserve,
        ),
        max_len=MAX_LEN,
        step_ns=1,
    )
    assert replayed(config, load, leaps=True) == replayed(config, load, leaps=False)
