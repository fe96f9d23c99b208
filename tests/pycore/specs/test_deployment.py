"""A model on GPUs: what each of them holds."""

import pytest

from pycore.specs import H100_SXM, LLAMA_3_8B, LLAMA_3_70B, Deployment, DeploymentError, find_model


@pytest.mark.parametrize("tp", [1, 2, 4, 8])
def test_weights_are_split_evenly(tp):
    assert tp * Deployment(LLAMA_3_70B, H100_SXM, tp).weight_bytes == 2 * LLAMA_3_70B.num_params


def test_repeated_kv_heads_bring_their_weights_along():
    one_head = 2 * 2 * 80 * 8192 * 128  # key and value matrices of one head, in bytes
    sixteen = Deployment(LLAMA_3_70B, H100_SXM, 16)
    assert 16 * sixteen.weight_bytes == 2 * LLAMA_3_70B.num_params + 8 * one_head


@pytest.mark.parametrize("bits", [16, 8, 4])
def test_layers_of_fewer_bits_weigh_less_and_embeddings_do_not(bits):
    embeddings = 2 * LLAMA_3_8B.head_params
    layers = LLAMA_3_8B.num_params - embeddings
    deployment = Deployment(LLAMA_3_8B, H100_SXM, weights_bits=bits)
    assert deployment.weight_bytes == layers * bits // 8 + 2 * embeddings


def test_all_experts_are_held():
    for name in ("Mixtral-8x7B", "DeepSeek-V3"):
        model = find_model(name)
        assert Deployment(model, H100_SXM).weight_bytes == 2 * model.num_params


def test_what_compresses_to_a_latent_vector_is_on_every_gpu():
    model = find_model("DeepSeek-V3")
    whole = 2 * 61 * 7168 * (1536 + 512 + 64)
    split = 8 * Deployment(model, H100_SXM, 8).weight_bytes
    assert split == 2 * model.num_params + 7 * whole


@pytest.mark.parametrize("tp", [0, -1, 3, 64, 1000])
def test_heads_that_cannot_be_dealt_out_are_refused(tp):
    with pytest.raises(DeploymentError, match=f"tp is {tp}, expected 1, 2, 4, 8, 16, 32"):
        Deployment(LLAMA_3_8B, H100_SXM, tp)


def test_other_bits_are_refused():
    with pytest.raises(DeploymentError, match="kv_bits is 5, expected 16, 8, 4"):
        Deployment(LLAMA_3_8B, H100_SXM, kv_bits=5)
