"""How large the KV of a context is, and how much of it fits where (facts E1–E4)."""

from pycore.specs.gpu_spec import GpuSpec
from pycore.specs.model_spec import ModelSpec


def kv_bytes_per_token(model: ModelSpec, bits: int = 16, tp: int = 1) -> int:
    """Bytes that one token takes in the KV cache of one GPU while it lies inside every window (facts E1).

    Args:
        model: its shape.
        bits: a number of the cache.
        tp: GPUs that share the model.

    >>> from pycore.specs.models import LLAMA_3_8B, OPT_13B
    >>> kv_bytes_per_token(OPT_13B), kv_bytes_per_token(LLAMA_3_8B) // 1024
    (819200, 128)
    """
    return model.num_layers * model.cached_numbers(tp) * bits // 8


def kv_bytes(model: ModelSpec, context: int, bits: int = 16, tp: int = 1) -> int:
    """Bytes that `context` tokens of one sequence keep on one GPU; layers with a window keep that much only.

    >>> from pycore.specs.catalogue import find_model
    >>> round(kv_bytes(find_model("gemma-3-27b"), 131_072) / 1e9, 2)
    11.17
    """
    kept = model.full_layers * context
    if model.window:
        kept += model.window_layers * min(context, model.window.size)
    return kept * model.cached_numbers(tp) * bits // 8


def kv_tokens(model: ModelSpec, space: int) -> int:
    """Whole tokens that fit in `space` bytes of KV cache at 16 bits (facts E3).

    >>> from pycore.specs.models import OPT_13B
    >>> kv_tokens(OPT_13B, 12 * 10**9)
    14648
    """
    return space // kv_bytes_per_token(model)


def kv_capacity_blocks(model: ModelSpec, gpu: GpuSpec, block_size: int = 16, use_percent: int = 90) -> int:
    """Blocks of KV cache that fit beside the weights on one GPU, both at 16 bits (facts E2).

    The textbook sum, in which a serving engine takes no memory for itself; `pycore.capacity` has the rest.

    Args:
        model: its weights are held once.
        gpu: holds nothing else.
        block_size: token slots a block.
        use_percent: share of the memory that the engine may use, in percent (vLLM's default is 90).

    Returns:
        Whole blocks; 0 if the weights alone do not fit.

    >>> from pycore.specs.gpus import A100_40GB
    >>> from pycore.specs.models import OPT_13B_GATED
    >>> kv_capacity_blocks(OPT_13B_GATED, A100_40GB)
    748
    """
    left = gpu.memory_bytes * use_percent // 100 - 2 * model.num_params
    return max(0, left // (block_size * kv_bytes_per_token(model)))
