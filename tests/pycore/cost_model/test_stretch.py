"""A stretch of decode steps in closed form is the sum of its steps, to the nanosecond."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pycore.cost_model import (
    NO_DECODES,
    PAPER_KERNEL,
    Decodes,
    Efficiency,
    FixedStep,
    Roofline,
    SerialKernels,
)
from pycore.cost_model.rate import floor_sum
from pycore.specs import GPUS, LLAMA_3_8B, MODELS, Deployment, DeploymentError, find_gpu, find_model


@st.composite
def rooflines(draw) -> Roofline:
    model, gpu = MODELS[draw(st.sampled_from(sorted(MODELS)))], GPUS[draw(st.sampled_from(sorted(GPUS)))]
    bits = st.sampled_from((16, 8, 4))
    try:
        deployment = Deployment(model, gpu, draw(st.sampled_from((1, 2, 8))), draw(bits), draw(bits))
    except DeploymentError:
        deployment = Deployment(model, gpu)
    share = st.integers(1, 1000)
    kernel = draw(st.sampled_from((None, PAPER_KERNEL)))
    efficiency = Efficiency(
        draw(share), draw(share), draw(share), draw(st.integers(0, 10**6)), draw(st.integers(0, 999)), kernel
    )
    return draw(st.sampled_from((Roofline, SerialKernels)))(deployment, efficiency)


LENGTHS = st.lists(st.integers(1, 9000), min_size=1, max_size=40)


def decodes(lengths: list[int]) -> Decodes:
    return Decodes(len(lengths), sum(lengths), tuple(lengths))


@given(rooflines(), LENGTHS, st.integers(0, 80))
def test_a_stretch_is_the_sum_of_its_steps(model, lengths, steps):
    start = decodes(lengths)
    assert model.stretch_ns(start, steps) == sum(model.work_ns(start.after(i)) for i in range(steps))


@given(rooflines(), LENGTHS, st.integers(1, 10**9), st.integers(1, 60))
def test_the_last_step_within_a_time_begins_in_it_and_the_next_one_does_not(model, lengths, ns, limit):
    start = decodes(lengths)
    steps, spent = model.begun_within(start, ns, limit)
    assert 1 <= steps <= limit
    assert spent == model.stretch_ns(start, steps)
    assert model.stretch_ns(start, steps - 1) < ns
    assert steps == limit or spent >= ns


@pytest.mark.parametrize("ns", [1, 10**6, 10**9, 10**12, 10**15])
def test_many_steps_within_a_time_are_found_where_they_get_much_longer(ns):
    model = Roofline(Deployment(LLAMA_3_8B, find_gpu("A100-80GB-SXM")))
    start = Decodes(200, 200)
    steps, spent = model.begun_within(start, ns, 10**7)
    assert model.stretch_ns(start, steps - 1) < ns <= spent == model.stretch_ns(start, steps)


@given(st.integers(0, 200), st.integers(1, 10**12), st.integers(0, 10**15), st.integers(0, 10**15))
@example(0, 1, 0, 0)
def test_floors_of_a_progression_add_up(steps, m, a, b):
    assert floor_sum(steps, m, a, b) == sum((a * i + b) // m for i in range(steps))


@pytest.mark.parametrize(
    ("model", "gpu", "mfu", "count", "context"),
    [("DeepSeek-V3", "H200-SXM", 20, 4, 9000), ("OPT-13B", "A100-40GB", 300, 256, 10)],
    ids=["arithmetic-overtakes", "traffic-overtakes"],
)
def test_a_stretch_in_which_the_longer_time_changes(model, gpu, mfu, count, context):
    """With a peak so low that contexts tip the balance on the way."""
    slow = Roofline(Deployment(find_model(model), find_gpu(gpu)), Efficiency(mfu=mfu, overhead_ns=0))
    start = Decodes(count, count * context)
    each = [slow.work_ns(start.after(i)) for i in range(4001)]
    assert abs((each[100] - each[0]) - (each[4000] - each[3900])) > 1000  # other growth: another time rules
    total = slow.stretch_ns(start, 4000)
    assert total == sum(each[:4000])
    assert total == slow.stretch_ns(start, 1234) + slow.stretch_ns(start.after(1234), 4000 - 1234)


def test_a_long_stretch_costs_no_more_than_a_short_one():
    model = Roofline(Deployment(LLAMA_3_8B, find_gpu("A100-80GB-SXM")))
    total = model.stretch_ns(Decodes(256, 256_000), 10**9)
    assert total > 10**9 * model.work_ns(Decodes(256, 256_000))


def test_equal_steps_have_stretches_too():
    model = FixedStep(50)
    assert model.work_ns(NO_DECODES) == 50
    assert model.stretch_ns(Decodes(3, 9), 7) == 350
    begun = [model.begun_within(Decodes(3, 9), ns, 4) for ns in (1, 50, 51, 149, 1000)]
    assert begun == [(1, 50), (1, 50), (2, 100), (3, 150), (4, 200)]


def test_a_stretch_of_nobody_is_overhead_alone():
    model = Roofline(Deployment(LLAMA_3_8B, find_gpu("H100")))
    assert model.stretch_ns(NO_DECODES, 3) == 3 * 500_000
