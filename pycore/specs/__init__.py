"""Figures of models and GPUs, each with its source, and what one takes of the other.

Names from here are the catalogue: `find_model("llama-3-8b")`, `LLAMA_3_8B`, `A100_40GB`.
"""

from pycore.specs.catalogue import UnknownNameError, find_gpu, find_model
from pycore.specs.deployment import Deployment, DeploymentError
from pycore.specs.gpu_spec import GpuSpec
from pycore.specs.gpus import A100_40GB, GPUS, H100_SXM
from pycore.specs.kv_size import kv_bytes, kv_bytes_per_token, kv_capacity_blocks, kv_tokens
from pycore.specs.model_spec import Experts, LatentAttention, ModelSpec, SlidingWindow
from pycore.specs.models import LLAMA_3_8B, LLAMA_3_70B, MODELS, OPT_13B, OPT_13B_GATED

__all__ = [
    "A100_40GB",
    "GPUS",
    "H100_SXM",
    "LLAMA_3_8B",
    "LLAMA_3_70B",
    "MODELS",
    "OPT_13B",
    "OPT_13B_GATED",
    "Deployment",
    "DeploymentError",
    "Experts",
    "GpuSpec",
    "LatentAttention",
    "ModelSpec",
    "SlidingWindow",
    "UnknownNameError",
    "find_gpu",
    "find_model",
    "kv_bytes",
    "kv_bytes_per_token",
    "kv_capacity_blocks",
    "kv_tokens",
]
