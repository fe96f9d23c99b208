"""Published figures that sizes and times can be held against, each with its band and where it is missed."""

import json

import pytest

from pycore.capacity import NO_ENGINE, capacity
from pycore.cost_model import Decodes, Efficiency, Roofline
from pycore.specs import Deployment, find_gpu, find_model, kv_bytes_per_token, kv_tokens
from tests.shared import shared

GIB = 2**30


@pytest.fixture(scope="module")
def published() -> dict:
    return json.loads(shared("catalog/anchors.json").read_text(encoding="utf-8"))


def test_kv_bytes_of_a_token(published):
    assert (
        kv_bytes_per_token(find_model("OPT-13B"))
        == published["vllm_sosp23"]["kv_bytes_per_token_OPT13B"]["value"]
    )


@pytest.mark.parametrize(
    ("model", "gpu", "tp", "within"),
    [
        ("OPT-13B", "A100-40GB-SXM", 1, 0.02),
        ("OPT-66B", "A100-40GB-SXM", 4, 0.02),
        ("OPT-175B", "A100-80GB", 8, 0.06),
    ],
)
def test_table_1_of_the_vllm_paper(published, model, gpu, tp, within):
    """GPUs, weights and slots. The paper's 264 GB of KV for 175B are 92 % of the memory rather than 90."""
    row = published["vllm_sosp23"]["table1"][model]
    found = capacity(Deployment(find_model(model), find_gpu(gpu), tp), block_size=1, engine=NO_ENGINE)
    assert tp * found.weights / 1e9 == pytest.approx(row["param_GB"], rel=0.02)
    assert found.num_tokens == pytest.approx(1000 * float(row["max_slots"].rstrip("K")), rel=within)


@pytest.mark.parametrize(("model", "within"), [("OPT-13B", 0.002), ("OPT-66B", 0.02), ("OPT-175B", 0.001)])
def test_slots_of_table_1_follow_from_its_kv_space(published, model, within):
    """Its GB are GiB; the 21 of 66B are rounded more than the slots are."""
    row = published["vllm_sosp23"]["table1"][model]
    slots = kv_tokens(find_model(model), row["kv_GB"] * GIB)
    assert slots == pytest.approx(1000 * float(row["max_slots"].rstrip("K")), rel=within)


def test_reserving_the_maximum_runs_seven(published):
    measured = published["vllm_sosp23"]["fig13_avg_batched_requests_OPT13B"]["sharegpt_2rps"]["orca_max"]
    assert kv_tokens(find_model("OPT-13B"), 12 * GIB) // 2048 == measured


def test_swap_depends_on_the_block_size_and_recompute_does_not():
    """vLLM paper, figure 19: swapping suffers from small blocks; for 16 to 64 both are comparable.

    There is a further sentence, that recomputing never takes more than 20 % of swapping's latency, which does
    not hold here: at 25 GB/s and 10 µs a block, swapping 1,000 tokens out and in takes less than recomputing
    them even in blocks of 1.
    """
    deployment = Deployment(find_model("OPT-13B"), find_gpu("A100-40GB-SXM"))
    models = {size: Roofline(deployment, block_size=size) for size in (1, 2, 4, 8, 16, 32, 64, 128, 256)}
    assert len({model.recompute_ns(1000) for model in models.values()}) == 1
    swaps = [2 * model.swap_ns(1000) for model in models.values()]
    assert swaps == sorted(swaps, reverse=True)
    for size in (16, 32, 64):
        assert 0.5 < 2 * models[size].swap_ns(1000) / models[size].recompute_ns(1000) < 2
    assert swaps[0] < models[1].recompute_ns(1000)


@pytest.mark.parametrize(
    ("run", "model", "gpu", "tp"),
    [
        ("RTX4090_Llama-3.1-8B", "Llama-3.1-8B", "RTX-4090", 1),
        ("RTXPRO6000_Qwen3-32B", "Qwen3-32B", "RTX-PRO-6000", 2),
    ],
)
def test_no_measured_run_beats_the_data_sheet(published, run, model, gpu, tp):
    """A step reads the weights once at least, and nothing is faster than memory by its data sheet."""
    best = Roofline(Deployment(find_model(model), find_gpu(gpu), tp), Efficiency(1000, 1000, 1000, 0))
    measured_ms = published["real_vllm_measurements"][run]["tpot_ms_mean"]
    assert best.work_ns(Decodes(1, 1)) / 1e6 < measured_ms
