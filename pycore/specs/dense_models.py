"""Models whose every layer has one MLP."""

from dataclasses import replace

from pycore.specs.model_spec import ModelSpec, SlidingWindow

_OPT_SOURCE = "config.json of facebook/opt-*; 800 KB of KV a token for 13B in the vLLM paper, section 3"

OPT_13B = ModelSpec(
    name="OPT-13B",
    num_layers=40,
    hidden_size=5120,
    num_heads=40,
    num_kv_heads=40,
    head_dim=128,
    ffn_size=20_480,
    vocab_size=50_272,
    max_context=2048,
    gated=False,
    tied=True,
    source=_OPT_SOURCE,
)
# The facts of scenario A: OPT-13B as a gated model, whose MLP of three matrices has the inner width that
# gives as many weights, and both embeddings counted.
OPT_13B_GATED = replace(OPT_13B, name="OPT-13B-gated", ffn_size=13_653, gated=True, tied=False)
OPT_66B = ModelSpec(
    name="OPT-66B",
    num_layers=64,
    hidden_size=9216,
    num_heads=72,
    num_kv_heads=72,
    head_dim=128,
    ffn_size=36_864,
    vocab_size=50_272,
    max_context=2048,
    gated=False,
    tied=True,
    source=_OPT_SOURCE,
)
OPT_175B = ModelSpec(
    name="OPT-175B",
    num_layers=96,
    hidden_size=12_288,
    num_heads=96,
    num_kv_heads=96,
    head_dim=128,
    ffn_size=49_152,
    vocab_size=50_272,
    max_context=2048,
    gated=False,
    tied=True,
    source=_OPT_SOURCE,
)
LLAMA_13B = ModelSpec(
    name="LLaMA-13B",
    num_layers=40,
    hidden_size=5120,
    num_heads=40,
    num_kv_heads=40,
    head_dim=128,
    ffn_size=13_824,
    vocab_size=32_000,
    max_context=2048,
    source="LLaMA paper Table 2 (arXiv 2302.13971); GenZ meta.py has the same shape for Llama-2-13B",
)
LLAMA_2_7B = ModelSpec(
    name="Llama-2-7B",
    num_layers=32,
    hidden_size=4096,
    num_heads=32,
    num_kv_heads=32,
    head_dim=128,
    ffn_size=11_008,
    vocab_size=32_000,
    max_context=4096,
    source="vidur@7d47513 vidur/config/model_config.py Llama2_7BModelConfig",
)
LLAMA_3_8B = ModelSpec(
    name="Llama-3-8B",
    num_layers=32,
    hidden_size=4096,
    num_heads=32,
    num_kv_heads=8,
    head_dim=128,
    ffn_size=14_336,
    vocab_size=128_256,
    max_context=8192,
    source=(
        "vidur@7d47513 model_config.py; aiconfigurator@095f58a51 "
        "meta-llama--Meta-Llama-3.1-8B_config.json (the published config.json) (3.1 has max_context "
        "131072)"
    ),
)
LLAMA_3_1_8B = replace(LLAMA_3_8B, name="Llama-3.1-8B", max_context=131_072)
LLAMA_3_70B = ModelSpec(
    name="Llama-3-70B",
    num_layers=80,
    hidden_size=8192,
    num_heads=64,
    num_kv_heads=8,
    head_dim=128,
    ffn_size=28_672,
    vocab_size=128_256,
    max_context=8192,
    source=(
        "vidur@7d47513 model_config.py; aiconfigurator@095f58a51 "
        "meta-llama--Meta-Llama-3.1-70B_config.json (the published config.json)"
    ),
)
LLAMA_3_1_70B = replace(LLAMA_3_70B, name="Llama-3.1-70B", max_context=131_072)
LLAMA_3_1_405B = ModelSpec(
    name="Llama-3.1-405B",
    num_layers=126,
    hidden_size=16_384,
    num_heads=128,
    num_kv_heads=8,
    head_dim=128,
    ffn_size=53_248,
    vocab_size=128_256,
    max_context=131_072,
    source=(
        "aiconfigurator@095f58a51 meta-llama--Meta-Llama-3.1-405B_config.json (the published config.json)"
    ),
)
QWEN2_5_7B = ModelSpec(
    name="Qwen2.5-7B",
    num_layers=28,
    hidden_size=3584,
    num_heads=28,
    num_kv_heads=4,
    head_dim=128,
    ffn_size=18_944,
    vocab_size=152_064,
    max_context=131_072,
    source="inference-sim@f90a1e3a model_configs/qwen2.5-7b-instruct/config.json; GenZ alibaba.py",
)
QWEN2_5_72B = ModelSpec(
    name="Qwen2.5-72B",
    num_layers=80,
    hidden_size=8192,
    num_heads=64,
    num_kv_heads=8,
    head_dim=128,
    ffn_size=29_568,
    vocab_size=152_064,
    max_context=131_072,
    source="GenZ alibaba.py qwen2_72b (HF Qwen/Qwen2.5-72B)",
)
QWEN3_8B = ModelSpec(
    name="Qwen3-8B",
    num_layers=36,
    hidden_size=4096,
    num_heads=32,
    num_kv_heads=8,
    head_dim=128,
    ffn_size=12_288,
    vocab_size=151_936,
    max_context=40_960,
    source="aiconfigurator@095f58a51 Qwen--Qwen3-8B_config.json (the published config.json)",
)
QWEN3_32B = ModelSpec(
    name="Qwen3-32B",
    num_layers=64,
    hidden_size=5120,
    num_heads=64,
    num_kv_heads=8,
    head_dim=128,
    ffn_size=25_600,
    vocab_size=151_936,
    max_context=40_960,
    source="aiconfigurator@095f58a51 Qwen--Qwen3-32B_config.json (the published config.json)",
)
MISTRAL_7B = ModelSpec(
    name="Mistral-7B-v0.1",
    num_layers=32,
    hidden_size=4096,
    num_heads=32,
    num_kv_heads=8,
    head_dim=128,
    ffn_size=14_336,
    vocab_size=32_000,
    max_context=32_768,
    window=SlidingWindow(size=4096, num_layers=32),
    source=(
        "GenZ mistral.py; HF mistralai/Mistral-7B-v0.1 (sliding_window 4096 in v0.1, absent from v0.2 on)"
    ),
)
GEMMA_3_27B = ModelSpec(
    name="Gemma-3-27B",
    num_layers=62,
    hidden_size=5376,
    num_heads=32,
    num_kv_heads=16,
    head_dim=128,
    ffn_size=21_504,
    vocab_size=262_208,
    max_context=131_072,
    tied=True,
    window=SlidingWindow(size=1024, num_layers=52),
    source="public HF config copies; layer pattern 5 local : 1 global",
)
