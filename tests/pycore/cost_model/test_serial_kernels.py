"""Kernels one after the other: between the roofline of the same work and twice that."""

from hypothesis import given
from hypothesis import strategies as st

from pycore.cost_model import Chunk, Decodes, Efficiency, Roofline, SerialKernels
from pycore.specs import H100_SXM, Deployment, find_model

NO_OVERHEAD = Efficiency(overhead_ns=0)
# One embedding matrix for both ends: nothing is left out of the traffic.
TIED = Deployment(find_model("OPT-13B"), H100_SXM)


@given(st.integers(1, 500), st.integers(0, 5000), st.lists(st.integers(1, 2000), max_size=3))
def test_a_sum_lies_between_the_roofline_and_twice_that(count, context, prompts):
    decodes = Decodes(count, count * (context + 1))
    chunks = [Chunk(0, new) for new in prompts]
    least = Roofline(TIED, NO_OVERHEAD).work_ns(decodes, chunks)
    assert least <= SerialKernels(TIED, NO_OVERHEAD).work_ns(decodes, chunks) <= 2 * least + 2


def test_the_input_embedding_is_looked_up_not_read():
    model = find_model("Qwen3-8B")
    deployment = Deployment(model, H100_SXM)
    sparing, whole = (
        kind(deployment, NO_OVERHEAD).parts(Decodes(1, 1)).traffic for kind in (SerialKernels, Roofline)
    )
    rows = model.vocab_size * model.hidden_size * 2
    assert abs(whole - sparing - rows * 10**9 * 10 // (8 * H100_SXM.bandwidth)) <= 1


def test_a_stated_latency_is_paid_twice_a_layer_and_hop():
    deployment = Deployment(find_model("Qwen3-32B"), H100_SXM, tp=2)
    near, far = (SerialKernels(deployment, Efficiency(hop_ns=ns)).parts(Decodes(1, 1)) for ns in (0, 1000))
    assert far.fixed - near.fixed == 2 * 64 * 2 * 1000
