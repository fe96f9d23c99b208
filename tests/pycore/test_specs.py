"""Sizes of models, GPUs and the KV cache (facts E1–E5)."""

import pytest

from pycore.specs import (
    A100_40GB,
    GPUS,
    H100_80GB,
    LLAMA_3_8B,
    LLAMA_3_70B,
    MODELS,
    OPT_13B,
    GpuSpec,
    kv_bytes_per_token,
    kv_capacity_blocks,
    kv_tokens,
)

KIB = 1024
MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("model", "kib"), [(OPT_13B, 800), (LLAMA_3_8B, 128), (LLAMA_3_70B, 320)], ids=lambda each: str(each)[:20]
)
def test_a_token_takes_a_key_and_a_value_in_every_layer_and_kv_head(model, kib):
    """Facts E1."""
    assert kv_bytes_per_token(model) == kib * KIB


def test_a_block_of_16_tokens_is_2_mib_for_llama_and_12_5_mib_for_opt():
    assert 16 * kv_bytes_per_token(LLAMA_3_8B) == 2 * MIB
    assert 16 * kv_bytes_per_token(OPT_13B) == 12.5 * MIB


def test_opt_13b_weighs_26_gb():
    """Facts E2."""
    assert OPT_13B.num_params == 13_097_492_480
    assert round(OPT_13B.weight_bytes / 1e9, 2) == 26.19


@pytest.mark.parametrize(("model", "billions"), [(LLAMA_3_8B, 8.0), (LLAMA_3_70B, 70.6)], ids=["8B", "70B"])
def test_llama_models_have_their_published_size(model, billions):
    assert round(model.num_params / 1e9, 1) == billions


def test_opt_13b_on_an_a100_leaves_748_blocks():
    """Facts E2."""
    assert kv_capacity_blocks(OPT_13B, A100_40GB, 16) == 748
    assert kv_capacity_blocks(OPT_13B, A100_40GB, 16) * 16 == 11_968


def test_blocks_of_another_size_share_the_same_space():
    assert kv_capacity_blocks(OPT_13B, A100_40GB, 1) // 16 == 748


def test_12_gb_hold_14648_tokens_of_opt_13b():
    """Facts E3."""
    assert kv_tokens(OPT_13B, 12 * 10**9) == 14_648


def test_reserving_the_maximum_leaves_room_for_5_requests():
    """Facts E4."""
    assert kv_capacity_blocks(OPT_13B, A100_40GB) * 16 // 2048 == 5


def test_20_requests_waste_at_most_300_tokens():
    """Facts E5."""
    tokens = 20 * (16 - 1)
    assert tokens == 300
    assert round(tokens * kv_bytes_per_token(OPT_13B) / MIB) == 234
    assert round(100 * tokens / (kv_capacity_blocks(OPT_13B, A100_40GB) * 16), 1) == 2.5


def test_a_model_larger_than_the_gpu_leaves_no_blocks():
    assert kv_capacity_blocks(LLAMA_3_70B, H100_80GB) == 0
    assert kv_capacity_blocks(LLAMA_3_8B, GpuSpec("tiny", 10**9, "made up")) == 0


def test_every_figure_has_a_source():
    assert all(spec.source for spec in (*MODELS.values(), *GPUS.values()))


def test_llama_3_8b_on_an_a100_leaves_9508_blocks():
    """The default pool of a replayed trace."""
    assert kv_capacity_blocks(LLAMA_3_8B, A100_40GB) == 9508
