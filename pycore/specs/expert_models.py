"""Models that are mixtures of experts."""

from pycore.specs.model_spec import Experts, LatentAttention, ModelSpec, SlidingWindow

QWEN3_30B_A3B = ModelSpec(
    name="Qwen3-30B-A3B",
    num_layers=48,
    hidden_size=2048,
    num_heads=32,
    num_kv_heads=4,
    head_dim=128,
    ffn_size=6144,
    vocab_size=151_936,
    max_context=40_960,
    experts=Experts(count=128, per_token=8, ffn_size=768),
    source="aiconfigurator@095f58a51 Qwen--Qwen3-30B-A3B_config.json (the published config.json)",
)
MIXTRAL_8X7B = ModelSpec(
    name="Mixtral-8x7B",
    num_layers=32,
    hidden_size=4096,
    num_heads=32,
    num_kv_heads=8,
    head_dim=128,
    ffn_size=14_336,
    vocab_size=32_000,
    max_context=32_768,
    experts=Experts(count=8, per_token=2, ffn_size=14_336),
    source=("aiconfigurator@095f58a51 mistralai--Mixtral-8x7B-v0.1_config.json (the published config.json)"),
)
DEEPSEEK_V3 = ModelSpec(
    name="DeepSeek-V3",
    num_layers=61,
    hidden_size=7168,
    num_heads=128,
    num_kv_heads=128,
    head_dim=128,
    ffn_size=18_432,
    vocab_size=129_280,
    max_context=163_840,
    latent=LatentAttention(q_rank=1536, kv_rank=512, rope_dim=64, nope_dim=128, value_dim=128),
    experts=Experts(count=256, per_token=8, ffn_size=2048, shared=1, dense_layers=3),
    source="aiconfigurator@095f58a51 deepseek-ai--DeepSeek-V3_config.json (the published config.json)",
)
GPT_OSS_120B = ModelSpec(
    name="gpt-oss-120b",
    num_layers=36,
    hidden_size=2880,
    num_heads=64,
    num_kv_heads=8,
    head_dim=64,
    ffn_size=2880,
    vocab_size=201_088,
    max_context=131_072,
    experts=Experts(count=128, per_token=4, ffn_size=2880),
    window=SlidingWindow(size=128, num_layers=18),
    source="aiconfigurator@095f58a51 openai--gpt-oss-120b_config.json (the published config.json)",
)
