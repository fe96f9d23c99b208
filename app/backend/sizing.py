"""How many users fit at the same time: a deployment's capacity, from words to figures."""

from collections.abc import Mapping

from app.backend.deployment import room, with_spec_names
from app.backend.settings import Value, normalise, notice, told
from pycore.capacity import NO_ENGINE, Capacity, EngineMemory

SHORTEST = 512  # tokens of a user at which the curve begins


def sizing_response(given: Mapping[str, object]) -> dict:
    """What the page shows.

    Args:
        given: settings as words or numbers by key; names of models and GPUs need not be exact.

    Returns:
        `sources`, with `sizing` (see there) and `curve` (see users_by_context), `notices` and `settings`.

    Raises:
        RequestError: see `sizing`; or a model or GPU that nobody knows.
    """
    settings, notices = normalise("sizing", with_spec_names(given))
    answer = sizing(settings)
    if settings["ctx"] > answer["max_context"]:
        limit = {"model": settings["model"], "limit": answer["max_context"]}
        notices.append(notice("info", "sizing.note.context", **limit))
    sources = {"sizing": answer, "curve": users_by_context(settings)}
    return {"sources": sources, "notices": told(notices), "settings": settings}


def sizing(settings: Mapping[str, Value]) -> dict:
    """Everything that the answer and its formula need.

    Args:
        settings: every key of SETTINGS["sizing"], allowed.

    Returns:
        `settings`; `terms`, bytes of one GPU by name, which add up to `memory`; `made_of`, the numbers that
        the terms are made of; `kv`, those that the size of a token's KV is made of; and what fits.

    Raises:
        RequestError: heads that cannot be dealt out to so many GPUs, or weights that do not fit.
    """
    engine = _engine(settings)
    found, textbook = room(settings, engine), room(settings, NO_ENGINE)
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
        "made_of": _made_of(found, engine),
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
        "textbook_users": textbook.users(context),
        "sources": {"model": model.source, "gpu": deployment.gpu.source},
    }


def users_by_context(settings: Mapping[str, Value]) -> dict[str, list[int]]:
    """How many users fit at other lengths: powers of two, the model's longest, and the one that is set.

    Args:
        settings: see `sizing`.

    Returns:
        Columns `context` (tokens, ascending), `users`, and `bytes` (of one user on one GPU).

    Raises:
        RequestError: see `sizing`.
    """
    found, context = room(settings, _engine(settings)), int(settings["ctx"])
    longest = found.deployment.model.max_context
    doubled = range(SHORTEST.bit_length() - 1, max(longest, context).bit_length())
    contexts = sorted({context, longest, *(1 << power for power in doubled)})
    return {
        "context": contexts,
        "users": [found.users(each) for each in contexts],
        "bytes": [found.bytes_per_user(each) for each in contexts],
    }


def _engine(settings: Mapping[str, Value]) -> EngineMemory:
    return EngineMemory(int(settings["budget"]), int(settings["seqs"]))


def _made_of(found: Capacity, engine: EngineMemory) -> dict[str, int]:
    deployment, model = found.deployment, found.deployment.model
    embeddings = model.num_embeddings * model.head_params // deployment.tp
    return {
        "kept": engine.kept,
        "layer_weights": (found.weights - 2 * embeddings) * 8 // deployment.weights_bits,
        "embedding_weights": embeddings,
        "hidden_size": model.hidden_size,
        "buffers": engine.buffer_bytes,
        "logit": engine.logit_bytes,
        "vocabulary": model.vocab_size,
        "libraries": engine.context_bytes,
        "communication": engine.nccl_bytes if deployment.tp > 1 else 0,
    }
