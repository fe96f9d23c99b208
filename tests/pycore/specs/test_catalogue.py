"""The catalogue of models and GPUs: found by name, and as published."""

import json

import pytest

from pycore.specs import GPUS, MODELS, UnknownNameError, find_gpu, find_model, kv_bytes_per_token
from tests.shared import shared

# name in the published catalogue → why ours differs
OTHER_FLOPS = {"A10G": "it lists the A10's peak and asks to verify it: the A10G has 70 TFLOPS"}


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Llama-3-8B", "Llama-3-8B"),
        ("llama3-8b", "Llama-3-8B"),
        ("meta-llama/Meta-Llama-3-8B", "Llama-3-8B"),
        ("LLAMA_3.1_8B", "Llama-3.1-8B"),
        ("deepseek-ai/DeepSeek-V3", "DeepSeek-V3"),
        ("Qwen/Qwen3-32B", "Qwen3-32B"),
    ],
)
def test_a_model_is_found_however_its_name_is_spelt(typed, name):
    assert find_model(typed).name == name


@pytest.mark.parametrize(
    ("typed", "name"),
    [("a100", "A100-80GB-SXM"), ("NVIDIA GeForce RTX 4090", "RTX-4090"), ("RTXPRO6000", "RTX-PRO-6000")],
)
def test_a_gpu_is_found_however_its_name_is_spelt(typed, name):
    assert find_gpu(typed).name == name


def test_an_unknown_name_is_told_with_those_near_it():
    with pytest.raises(UnknownNameError, match="unknown model 'llama3-8', did you mean Llama-3-8B"):
        find_model("llama3-8")
    with pytest.raises(UnknownNameError) as unknown:
        find_gpu("H1000")
    assert unknown.value.near[0].startswith("H100")


def test_where_nothing_is_near_all_names_are_told():
    with pytest.raises(UnknownNameError) as unknown:
        find_gpu("☃")
    assert unknown.value.near == tuple(GPUS)


def test_no_two_names_are_the_same_but_for_case_and_punctuation():
    for known, find in ((MODELS, find_model), (GPUS, find_gpu)):
        assert [find(name.lower()).name for name in known] == list(known)


def test_every_figure_has_a_source():
    assert all(spec.source for spec in (*MODELS.values(), *GPUS.values()))


def test_models_are_as_published():
    published = json.loads(shared("catalog/models.json").read_text(encoding="utf-8"))
    for name, figures in published.items():
        model = find_model(name)
        assert kv_bytes_per_token(model) == figures["kv_bytes_per_token_fp16"], name
        assert model.max_context == figures["max_context"], name
        # Ours are the matrices alone.
        assert 0.998 < model.num_params / figures["params_formula"] <= 1, name
        if "active_params_formula" in figures:
            assert 0.998 < model.active_params / figures["active_params_formula"] <= 1, name
        if "sliding_window" in figures:
            assert (model.window.size, model.window.num_layers) == (
                figures["sliding_window"],
                figures["sliding_layers"],
            ), name


def test_gpus_are_as_published():
    published = json.loads(shared("catalog/hardware.json").read_text(encoding="utf-8"))
    for name, figures in published.items():
        if name.startswith("_"):
            continue
        gpu = find_gpu(name)
        assert gpu.memory_bytes == figures["mem_bytes"], name
        assert gpu.bandwidth == figures["mem_bw_Bps"], name
        assert gpu.flops_8 == figures["fp8_dense_flops"], name
        assert gpu.host_bandwidth == figures["pcie_Bps_one_way"], name
        assert gpu.link_bandwidth == figures["gpu_link_Bps_one_way"], name
        if name in OTHER_FLOPS:
            assert gpu.flops_16 < figures["bf16_dense_flops"], OTHER_FLOPS[name]
        else:
            assert gpu.flops_16 == figures["bf16_dense_flops"], name


@pytest.mark.parametrize(
    ("name", "billions", "active"),
    [("Llama-3-8B", 8.0, 8.0), ("Llama-3-70B", 70.6, 70.6), ("Mixtral-8x7B", 46.7, 12.9)],
)
def test_models_have_their_published_size(name, billions, active):
    model = find_model(name)
    assert round(model.num_params / 1e9, 1) == billions
    assert round(model.active_params / 1e9, 1) == active
