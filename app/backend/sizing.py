"""How many users fit at the same time: a deployment's capacity, from words to figures."""

from collections.abc import Mapping

from app.backend.deployment import room
from app.backend.settings import Value
from pycore.capacity import NO_ENGINE, EngineMemory


def sizing(settings: Mapping[str, Value]) -> dict:
    """Everything that the answer and its formula need.

    Args:
        settings: every key of SETTINGS["sizing"], allowed.

    Returns:
        `settings`; `terms`, bytes of one GPU by name, which add up to `memory`; `kv`, the numbers that the
        size of a token's KV is made of; and what fits.

    Raises:
        RequestError: heads that cannot be dealt out to so many GPUs, or weights that do not fit.
    """
    found = room(settings, EngineMemory(int(settings["budget"]), int(settings["seqs"])))
    textbook = room(settings, NO_ENGINE)
    deployment, context = found.deployment, int(settings["ctx"])
    model = deployment.model
    return {
        "settings": dict(settings),
        "max_context": model.max_context,
        "memory": found.memory,
        "terms": {
            "kept": found.kept,
            "reserve": found.memory - found.kept - found.usable,
            "weights": found.weights,
            "hidden": found.hidden,
            "sampler": found.sampler,
            "context": found.context,
            "kv_space": found.kv_space,
        },
        "kv": {
            "layers": model.num_layers,
            "numbers": model.cached_numbers(deployment.tp),
            "heads": 0 if model.latent else -(-model.num_kv_heads // deployment.tp),
            "head_dim": model.head_dim,
            "bits": deployment.kv_bits,
            "bytes_per_token": found.bytes_per_token,
            "window": model.window.size if model.window else 0,
            "window_layers": model.window_layers,
        },
        "num_blocks": found.num_blocks,
        "num_tokens": found.num_tokens,
        "bytes_per_user": found.bytes_per_user(context),
        "users": found.users(context),
        "textbook_blocks": textbook.num_blocks,
        "sources": {"model": model.source, "gpu": deployment.gpu.source},
    }
