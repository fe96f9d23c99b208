"""How many users fit at the same time: a deployment's capacity, from words to figures."""

from collections.abc import Mapping

from app.backend.request_error import RequestError
from app.backend.settings import Value, shorten
from pycore.capacity import NO_ENGINE, Capacity, EngineMemory, WeightsDoNotFitError, capacity
from pycore.specs import Deployment, DeploymentError, UnknownNameError, find_gpu, find_model

_FIND = {"model": find_model, "gpu": find_gpu}
_PER_PERCENT = 10  # thousandths


def spec_name(kind: str, word: object) -> str:
    """The catalogue's name for what was meant.

    Args:
        kind: "model" or "gpu".
        word: as it was given.

    Raises:
        RequestError: there is none; the sentence has the names that are near.
    """
    try:
        return _FIND[kind](str(word)).name
    except UnknownNameError as error:
        raise RequestError.of(
            f"sizing.error.{kind}", name=shorten(word), near=", ".join(error.near)
        ) from None


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
    deployment = _deployment(settings, int(settings["tp"]))
    engine = EngineMemory(int(settings["budget"]), int(settings["seqs"]))
    try:
        found = _capacity(deployment, settings, engine)
    except WeightsDoNotFitError as error:
        raise _no_room(error, settings, engine) from None
    model, context = deployment.model, int(settings["ctx"])
    textbook = _capacity(deployment, settings, NO_ENGINE)
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


def _deployment(settings: Mapping[str, Value], tp: int) -> Deployment:
    model, gpu = find_model(str(settings["model"])), find_gpu(str(settings["gpu"]))
    try:
        return Deployment(model, gpu, tp, int(settings["wbits"]), int(settings["kvbits"]))
    except DeploymentError as error:
        raise RequestError.of("sizing.error.tp", model=model.name, tp=tp, expected=error.expected) from None


def _capacity(deployment: Deployment, settings: Mapping[str, Value], engine: EngineMemory) -> Capacity:
    utilisation = round(float(settings["util"]) * _PER_PERCENT)
    return capacity(deployment, int(settings["bs"]), utilisation, engine)


def _no_room(
    error: WeightsDoNotFitError, settings: Mapping[str, Value], engine: EngineMemory
) -> RequestError:
    """The sentence, with how many GPUs would do if some number does."""
    deployment = error.deployment
    fields = {
        "model": deployment.model.name,
        "gpu": deployment.gpu.name,
        "tp": deployment.tp,
        "needed": f"{error.needed / 1e9:,.1f}",
        "usable": f"{error.usable / 1e9:,.1f}",
    }
    for tp in range(deployment.tp + 1, deployment.model.num_heads + 1):
        try:
            _capacity(_deployment(settings, tp), settings, engine)
        except (RequestError, WeightsDoNotFitError):
            continue
        return RequestError.of("sizing.error.fit_with", more=tp, **fields)
    return RequestError.of("sizing.error.fit", **fields)
