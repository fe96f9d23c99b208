"""How much KV cache there is room for, held against start-up logs and runs of real engines."""

import json

import pytest

from pycore.capacity import NO_ENGINE, EngineMemory, WeightsDoNotFitError, capacity
from pycore.specs import A100_40GB, H100_SXM, LLAMA_3_8B, OPT_13B_GATED, Deployment, find_gpu, find_model
from tests.shared import shared

GIB = 2**30
RUNS = "traces/measured_vllm"


def test_the_textbook_sum_of_scenario_a():
    """Facts E2 and E4."""
    found = capacity(Deployment(OPT_13B_GATED, A100_40GB), engine=NO_ENGINE)
    assert (found.num_blocks, found.num_tokens) == (748, 11_968)
    assert found.users(2048) == 5


def test_all_terms_add_up_to_what_may_be_used():
    found = capacity(Deployment(LLAMA_3_8B, H100_SXM, 2))
    taken = found.weights + found.hidden + found.sampler + found.context
    assert found.usable == taken + found.kv_space == (found.memory - found.kept) * 900 // 1000
    assert 0 <= found.kv_space - found.num_tokens * found.bytes_per_token < 16 * found.bytes_per_token


@pytest.mark.parametrize(
    ("model", "tp", "bits", "activation", "available"),
    [
        ("Llama-3.1-8B", 1, 16, 4.76, 51.38),
        ("Qwen3-32B", 1, 16, 5.64, 4.45),
        ("Llama-3.1-70B", 2, 8, 4.84, 32.0),
    ],
)
def test_start_up_logs_of_vllm_on_an_h100(model, tp, bits, activation, available):
    """GiB, from llm-d's config_explorer/empirical-vllm-memory-results.md, as are the constants."""
    engine = EngineMemory(max_num_batched_tokens=8192, max_num_seqs=1024)
    found = capacity(Deployment(find_model(model), H100_SXM, tp, bits), engine=engine)
    assert (found.hidden + found.sampler) / GIB == pytest.approx(activation, rel=0.01)
    assert found.kv_space / GIB == pytest.approx(available, abs=0.15)


def test_a_run_on_an_rtx_4090_had_2588_blocks():
    """No constant comes from this run. The naive sum gives 3,401 blocks, a third too many."""
    run = json.loads(shared(f"{RUNS}/RTX4090_Llama-3.1-8B/meta.json").read_text(encoding="utf-8"))
    measured = run["kv_cache"]["num_gpu_blocks"]
    device_bytes = run["hardware"]["device_total_memory_bytes"]
    deployment = Deployment(find_model(run["model"]), find_gpu(run["hardware"]["device_name"]))
    asked = run["engine_kwargs"]
    engine = EngineMemory(asked["max_num_batched_tokens"], asked["max_num_seqs"])
    naive = capacity(deployment, engine=NO_ENGINE).num_blocks
    assert naive / measured == pytest.approx(1.31, abs=0.01)
    found = capacity(deployment, engine=engine, device_bytes=device_bytes).num_blocks
    assert found == pytest.approx(measured, rel=0.05)  # 2,480
    by_data_sheet = capacity(deployment, engine=engine).num_blocks
    assert by_data_sheet == pytest.approx(measured, rel=0.05)  # 2,592: a card that keeps less, for once


def test_a_run_on_two_rtx_pro_6000_was_never_short_of_memory():
    """It does not tell its blocks; 128 sequences, its limit, ran side by side all the time."""
    folder = f"{RUNS}/RTXPRO6000_Qwen3-32B"
    run = json.loads(shared(f"{folder}/meta.json").read_text(encoding="utf-8"))
    asked = run["engine_kwargs"]
    deployment = Deployment(find_model(run["model"]), find_gpu("RTX PRO 6000"), asked["tensor_parallel_size"])
    engine = EngineMemory(asked["max_num_batched_tokens"], asked["max_num_seqs"])
    found = capacity(deployment, engine=engine)
    lines = shared(f"{folder}/requests.jsonl").read_text(encoding="utf-8").splitlines()
    longest = sorted(
        (request["input_toks"] + request["output_toks"] for request in map(json.loads, lines)), reverse=True
    )
    assert found.num_tokens > sum(longest[: asked["max_num_seqs"]])


def test_shards_leave_more_room():
    blocks = [capacity(Deployment(find_model("Llama-3-70B"), H100_SXM, tp)).num_blocks for tp in (4, 8)]
    assert blocks[1] > 2 * blocks[0]


def test_fewer_bits_leave_more_room():
    blocks = [
        capacity(Deployment(LLAMA_3_8B, H100_SXM, 1, weights, kv)).num_blocks
        for weights, kv in ((16, 16), (8, 16), (4, 16), (16, 8), (16, 4))
    ]
    assert blocks[0] < blocks[1] < blocks[2]
    assert blocks[3] == pytest.approx(2 * blocks[0], abs=1)
    assert blocks[4] == pytest.approx(4 * blocks[0], abs=3)


def test_windows_make_room_for_more_users():
    found = capacity(Deployment(find_model("Gemma-3-27B"), H100_SXM))
    assert found.users(1024) == found.num_tokens // 1024
    assert found.users(16_384) > 3 * (found.num_tokens // 16_384)


def test_users_hold_whole_blocks():
    found = capacity(Deployment(LLAMA_3_8B, H100_SXM), block_size=256)
    assert found.users(257) == found.num_blocks // 2


def test_weights_that_do_not_fit_are_one_sentence():
    with pytest.raises(WeightsDoNotFitError) as refused:
        capacity(Deployment(find_model("Llama-3-70B"), H100_SXM))
    assert str(refused.value).startswith("Llama-3-70B does not fit on H100-SXM: each GPU needs 142.")
    assert refused.value.needed > refused.value.usable


@pytest.mark.parametrize("wrong", [{"block_size": 0}, {"utilisation": 0}, {"utilisation": 1001}])
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="expected at least 1 token and 1 to 1000 thousandths"):
        capacity(Deployment(LLAMA_3_8B, H100_SXM), **wrong)


def test_a_context_of_nothing_is_refused():
    with pytest.raises(ValueError, match="context is 0"):
        capacity(Deployment(LLAMA_3_8B, H100_SXM)).users(0)
