"""All models by name."""

from pycore.specs.dense_models import (
    GEMMA_3_27B,
    LLAMA_2_7B,
    LLAMA_3_1_8B,
    LLAMA_3_1_70B,
    LLAMA_3_1_405B,
    LLAMA_3_8B,
    LLAMA_3_70B,
    LLAMA_13B,
    MISTRAL_7B,
    OPT_13B,
    OPT_13B_GATED,
    OPT_66B,
    OPT_175B,
    QWEN2_5_7B,
    QWEN2_5_72B,
    QWEN3_8B,
    QWEN3_32B,
)
from pycore.specs.expert_models import DEEPSEEK_V3, GPT_OSS_120B, MIXTRAL_8X7B, QWEN3_30B_A3B
from pycore.specs.model_spec import ModelSpec

MODELS: dict[str, ModelSpec] = {
    model.name: model
    for model in (
        OPT_13B,
        OPT_13B_GATED,
        OPT_66B,
        OPT_175B,
        LLAMA_13B,
        LLAMA_2_7B,
        LLAMA_3_8B,
        LLAMA_3_1_8B,
        LLAMA_3_70B,
        LLAMA_3_1_70B,
        LLAMA_3_1_405B,
        QWEN2_5_7B,
        QWEN2_5_72B,
        QWEN3_8B,
        QWEN3_32B,
        MISTRAL_7B,
        GEMMA_3_27B,
        QWEN3_30B_A3B,
        MIXTRAL_8X7B,
        DEEPSEEK_V3,
        GPT_OSS_120B,
    )
}

# What people say as well → the name here.
MODEL_ALIASES: dict[str, str] = {
    "Meta-Llama-3-8B": "Llama-3-8B",
    "Meta-Llama-3-70B": "Llama-3-70B",
    "Meta-Llama-3.1-8B": "Llama-3.1-8B",
    "Meta-Llama-3.1-70B": "Llama-3.1-70B",
    "Mixtral-8x7B-v0.1": "Mixtral-8x7B",
    "Mistral-7B": "Mistral-7B-v0.1",
    "Gemma-3-27B-it": "Gemma-3-27B",
}
