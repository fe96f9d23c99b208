"""Figures of models and GPUs, each with its source, and how much KV cache they leave room for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A decoder-only transformer with a gated MLP.

    Attributes:
        name: as its makers spell it.
        num_layers: transformer layers.
        hidden_size: width of the residual stream.
        num_heads: query heads.
        num_kv_heads: key and value heads; fewer than `num_heads` with grouped-query attention.
        head_dim: numbers a head.
        ffn_size: inner width of the MLP, which has three matrices (gate, up, down).
        vocab_size: tokens in the vocabulary; input and output embeddings are counted apart.
        dtype_bytes: bytes a number, for weights and KV alike.
        source: where the figures stand.
    """

    name: str
    num_layers: int
    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    ffn_size: int
    vocab_size: int
    dtype_bytes: int
    source: str

    @property
    def num_params(self) -> int:
        """Weights of all matrices; norms, biases and position embeddings, under 0.2 % of them, are left out.

        >>> OPT_13B.num_params
        13097492480
        """
        attention = 2 * self.hidden_size * (self.num_heads + self.num_kv_heads) * self.head_dim
        mlp = 3 * self.hidden_size * self.ffn_size
        return self.num_layers * (attention + mlp) + 2 * self.vocab_size * self.hidden_size

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights."""
        return self.num_params * self.dtype_bytes


@dataclass(frozen=True, slots=True)
class GpuSpec:
    """A GPU.

    Attributes:
        name: as its maker spells it.
        memory_bytes: device memory; the "GB" of the data sheet taken as 10⁹ bytes.
        source: where the figure stands.
    """

    name: str
    memory_bytes: int
    source: str


# The published layer sizes and vocabulary. OPT's MLP has two matrices of 20,480; here it is written as the
# gated one of ffn_size 13,653 that has as many parameters, so that one formula serves all models.
OPT_13B = ModelSpec("OPT-13B", 40, 5120, 40, 40, 128, 13_653, 50_272, 2, "Zhang et al. 2022 (OPT), table 1")
LLAMA_3_8B = ModelSpec(
    "Llama-3-8B", 32, 4096, 32, 8, 128, 14_336, 128_256, 2, "config.json of Meta-Llama-3-8B"
)
LLAMA_3_70B = ModelSpec(
    "Llama-3-70B", 80, 8192, 64, 8, 128, 28_672, 128_256, 2, "config.json of Meta-Llama-3-70B"
)

A100_40GB = GpuSpec("A100-40GB", 40 * 10**9, "NVIDIA A100 data sheet")
H100_80GB = GpuSpec("H100-80GB", 80 * 10**9, "NVIDIA H100 data sheet, SXM")

MODELS: dict[str, ModelSpec] = {model.name: model for model in (OPT_13B, LLAMA_3_8B, LLAMA_3_70B)}
GPUS: dict[str, GpuSpec] = {gpu.name: gpu for gpu in (A100_40GB, H100_80GB)}


def kv_bytes_per_token(model: ModelSpec) -> int:
    """Bytes that one token takes in the KV cache: a key and a value in each layer and KV head (facts E1).

    >>> kv_bytes_per_token(OPT_13B), kv_bytes_per_token(LLAMA_3_8B) // 1024
    (819200, 128)
    """
    return 2 * model.num_layers * model.num_kv_heads * model.head_dim * model.dtype_bytes


def kv_tokens(model: ModelSpec, kv_bytes: int) -> int:
    """Whole tokens that fit in `kv_bytes` of KV space (facts E3).

    >>> kv_tokens(OPT_13B, 12 * 10**9)
    14648
    """
    return kv_bytes // kv_bytes_per_token(model)


def kv_capacity_blocks(model: ModelSpec, gpu: GpuSpec, block_size: int = 16, use_percent: int = 90) -> int:
    """Blocks of KV cache that fit beside the weights on one GPU (facts E2).

    Args:
        model: its weights are held once.
        gpu: holds nothing else.
        block_size: token slots a block.
        use_percent: share of the memory that the engine may use, in percent; the rest is left to
            activations and the runtime (vLLM's default is 90).

    Returns:
        Whole blocks; 0 if the weights alone do not fit.

    >>> kv_capacity_blocks(OPT_13B, A100_40GB)
    748
    >>> kv_capacity_blocks(LLAMA_3_70B, H100_80GB)
    0
    """
    left = gpu.memory_bytes * use_percent // 100 - model.weight_bytes
    return max(0, left // (block_size * kv_bytes_per_token(model)))
