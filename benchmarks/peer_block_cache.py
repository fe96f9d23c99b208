"""vLLM V1's prefix cache, timed by its own code.

Nothing of it is kept here: the modules named in REAL are imported from an installed `vllm` or from a folder
into which its wheel was unpacked; the rest of the package is empty names. Its Request, which brings sampling
and structured output along, is stood in for by the attributes that the cache reads; setting these costs less
than the real one does, so the peer loses nothing by it.
"""

import importlib
import sys
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from benchmarks.peers import EmptyNames, PeerMissing, root_of, version_of

REAL = tuple(
    f"vllm.{name}"
    for name in (
        "utils.hashing",
        "utils.math_utils",
        "v1.core.block_pool",
        "v1.core.kv_cache_coordinator",
        "v1.core.kv_cache_manager",
        "v1.core.kv_cache_utils",
        "v1.core.single_type_kv_cache_manager",
        "v1.kv_cache_interface",
        "v1.kv_cache_layout",
        "v1.kv_cache_spec_registry",
    )
)


class _Nothing(type):
    """A class of which every name is a function that does nothing: platforms, registries, enumerations."""

    def __getattr__(cls, name: str) -> Callable:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


class _Names(EmptyNames):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        module.__getattr__ = _nothing


def _nothing(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Nothing(name, (), {"__init__": lambda self, *args, **kwargs: None})


class _Request:
    """What vLLM's cache reads of a request."""

    cache_salt = lora_request = prompt_embeds = prompt_is_token_ids = shared_prefix_boundary = status = None
    mm_features = spec_token_ids = ()
    num_computed_tokens = num_in_flight_tokens = num_output_placeholders = num_preemptions = 0
    skip_reading_prefix_cache = has_encoder_inputs = False

    def __init__(self, number: int, tokens: list[int], hasher: Callable) -> None:
        self.request_id = str(number)
        self.all_token_ids = tokens
        self.num_tokens = self.num_prompt_tokens = self.num_tokens_with_spec = len(tokens)
        self.block_hashes: list[bytes] = []
        self.block_hashes = hasher(self)


def vllm(folders: Sequence[Path]) -> tuple[str, Callable[[Sequence[array], int, int], int]]:
    """Name and version of the peer, and how it serves prompts with so many blocks of so many tokens.

    Raises:
        PeerMissing: there is no `vllm`.
    """
    root = root_of("vllm", folders)
    for name in ("torch", "cbor2"):  # of neither is anything used here
        module = sys.modules.setdefault(name, ModuleType(name))
        if getattr(module, "__file__", None) is None:  # not the real one
            module.__getattr__ = _nothing
    sys.meta_path.insert(0, _Names(root, "vllm", REAL))
    try:
        manager = importlib.import_module("vllm.v1.core.kv_cache_manager")
        utils = importlib.import_module("vllm.v1.core.kv_cache_utils")
        interface = importlib.import_module("vllm.v1.kv_cache_interface")
        hashing = importlib.import_module("vllm.utils.hashing")
    except ImportError as missing:
        raise PeerMissing(f"vllm of this version needs {missing.name}") from missing
    utils.init_none_hash(hashing.sha256)

    def serve(prompts: Sequence[array], num_blocks: int, block_size: int) -> int:
        attention = interface.FullAttentionSpec(block_size, num_kv_heads=1, head_size=1, dtype=None)
        group = interface.KVCacheGroupSpec(["layer"], attention)
        config = interface.KVCacheConfig(num_blocks=num_blocks, kv_cache_tensors=[], kv_cache_groups=[group])
        cache = manager.KVCacheManager(
            config, max_model_len=4096, scheduler_block_size=block_size, hash_block_size=block_size
        )
        hasher = utils.get_request_block_hasher(block_size, hashing.sha256)
        hits = 0
        for number, prompt in enumerate(prompts):
            request = _Request(number, list(prompt), hasher)
            blocks, found = cache.get_computed_blocks(request)[:2]
            hits += found
            if cache.allocate_slots(request, len(prompt) - found, found, blocks) is None:
                raise AssertionError(f"vLLM refuses prompt {number}")
            cache.free(request)
        return hits

    return version_of(root, ("vllm",)), serve
