"""Sizes of models, GPUs and the KV cache (facts E1–E5)."""

from dataclasses import replace

import pytest

from pycore.specs import (
    A100_40GB,
    H100_SXM,
    LLAMA_3_8B,
    LLAMA_3_70B,
    OPT_13B,
    OPT_13B_GATED,
    find_model,
    kv_bytes,
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
    assert OPT_13B_GATED.num_params == 13_097_492_480
    assert round(2 * OPT_13B_GATED.num_params / 1e9, 2) == 26.19


def test_opt_13b_on_an_a100_leaves_748_blocks():
    """Facts E2."""
    assert kv_capacity_blocks(OPT_13B_GATED, A100_40GB, 16) == 748
    assert kv_capacity_blocks(OPT_13B_GATED, A100_40GB, 16) * 16 == 11_968


def test_blocks_of_another_size_share_the_same_space():
    assert kv_capacity_blocks(OPT_13B_GATED, A100_40GB, 1) // 16 == 748


def test_12_gb_hold_14648_tokens_of_opt_13b():
    """Facts E3."""
    assert kv_tokens(OPT_13B, 12 * 10**9) == 14_648


def test_reserving_the_maximum_leaves_room_for_5_requests():
    """Facts E4."""
    assert kv_capacity_blocks(OPT_13B_GATED, A100_40GB) * 16 // 2048 == 5


def test_20_requests_waste_at_most_300_tokens():
    """Facts E5."""
    tokens = 20 * (16 - 1)
    assert tokens == 300
    assert round(tokens * kv_bytes_per_token(OPT_13B) / MIB) == 234
    assert round(100 * tokens / (kv_capacity_blocks(OPT_13B_GATED, A100_40GB) * 16), 1) == 2.5


def test_a_model_larger_than_the_gpu_leaves_no_blocks():
    assert kv_capacity_blocks(LLAMA_3_70B, H100_SXM) == 0
    tiny = replace(A100_40GB, memory_bytes=10**9)
    assert kv_capacity_blocks(LLAMA_3_8B, tiny) == 0


def test_llama_3_8b_on_an_a100_leaves_9508_blocks():
    """The default pool of a replayed trace."""
    assert kv_capacity_blocks(LLAMA_3_8B, A100_40GB) == 9508


def test_layers_with_a_window_keep_no_more_than_it():
    """Gemma-3-27B: 10 layers see everything, 52 the last 1,024 tokens."""
    gemma = find_model("Gemma-3-27B")
    for context in (1, 1024, 1025, 131_072):
        expected = 2 * 2 * 16 * 128 * (10 * context + 52 * min(context, 1024))
        assert kv_bytes(gemma, context) == expected
    assert kv_bytes_per_token(gemma) * 131_072 > 5 * kv_bytes(gemma, 131_072)


def test_a_latent_vector_is_cached_once_and_whole_on_every_gpu():
    deepseek = find_model("DeepSeek-V3")
    assert kv_bytes_per_token(deepseek) == 61 * (512 + 64) * 2 == 70_272
    assert kv_bytes_per_token(deepseek, tp=8) == 70_272


def test_kv_heads_are_dealt_out_and_repeated_where_there_are_too_few():
    per_token = [kv_bytes_per_token(LLAMA_3_70B, tp=tp) // KIB for tp in (1, 2, 8, 16)]
    assert per_token == [320, 160, 40, 40]


@pytest.mark.parametrize(("bits", "kib"), [(16, 128), (8, 64), (4, 32)])
def test_fewer_bits_take_less_room(bits, kib):
    assert kv_bytes_per_token(LLAMA_3_8B, bits) == kib * KIB
