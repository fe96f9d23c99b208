"""A model on GPUs, from words to figures, with a sentence for whatever does not go together."""

from collections.abc import Mapping

from app.backend.request_error import RequestError
from app.backend.settings import Value, shorten
from pycore.capacity import Capacity, EngineMemory, WeightsDoNotFitError, capacity
from pycore.specs import Deployment, DeploymentError, UnknownNameError, find_gpu, find_model
from pycore.specs.deployment import BITS

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
        return _FIND[kind](word if isinstance(word, str) else shorten(word)).name
    except UnknownNameError as error:
        offers = [{kind: name} for name in error.near]
        raise RequestError.of(
            f"sizing.error.{kind}", offers, name=shorten(word), near=", ".join(error.near)
        ) from None


def with_spec_names(given: Mapping[str, object]) -> dict[str, object]:
    """Settings as they were given, but for the catalogue's names of what was meant by "model" and "gpu".

    Raises:
        RequestError: see `spec_name`.
    """
    return {
        key: spec_name(key, word) if key in _FIND and word is not None else word
        for key, word in given.items()
    }


def deployment(settings: Mapping[str, Value], tp: int | None = None) -> Deployment:
    """What runs on what.

    Args:
        settings: "model", "gpu", "tp", "wbits" and "kvbits", allowed.
        tp: GPUs that share the model, if other than in the settings.

    Raises:
        RequestError: heads that cannot be dealt out to so many GPUs.
    """
    model, gpu = find_model(str(settings["model"])), find_gpu(str(settings["gpu"]))
    tp = int(settings["tp"]) if tp is None else tp
    try:
        return Deployment(model, gpu, tp, int(settings["wbits"]), int(settings["kvbits"]))
    except DeploymentError as error:
        offers = [{error.setting: choice} for choice in error.choices]
        raise RequestError.of(
            "sizing.error.tp", offers, model=model.name, tp=tp, expected=error.expected
        ) from None


def room(settings: Mapping[str, Value], engine: EngineMemory) -> Capacity:
    """How much KV cache there is room for.

    Args:
        settings: those of `deployment`, "bs" and "util" (percent).
        engine: what it takes for itself.

    Raises:
        RequestError: see `deployment`; or weights that do not fit, with how many GPUs would do if some do.
    """
    try:
        return _capacity(settings, engine)
    except WeightsDoNotFitError as error:
        raise _no_room(error, settings, engine) from None


def _capacity(settings: Mapping[str, Value], engine: EngineMemory, tp: int | None = None) -> Capacity:
    """The same; raises WeightsDoNotFitError."""
    utilisation = round(float(settings["util"]) * _PER_PERCENT)
    return capacity(deployment(settings, tp), int(settings["bs"]), utilisation, engine)


def _no_room(
    error: WeightsDoNotFitError, settings: Mapping[str, Value], engine: EngineMemory
) -> RequestError:
    asked = error.deployment
    fields = {
        "model": asked.model.name,
        "gpu": asked.gpu.name,
        "tp": asked.tp,
        "needed": f"{error.needed / 1e9:,.1f}",
        "usable": f"{error.usable / 1e9:,.1f}",
    }
    fewer_bits = [{"wbits": str(bits)} for bits in BITS if bits < asked.weights_bits]
    offers = [offer for offer in fewer_bits if _fits({**settings, **offer}, engine)]
    for tp in range(asked.tp + 1, asked.model.num_heads + 1):
        if _fits(settings, engine, tp):
            return RequestError.of("sizing.error.fit_with", [{"tp": tp}, *offers], more=tp, **fields)
    return RequestError.of("sizing.error.fit", offers, **fields)


def _fits(settings: Mapping[str, Value], engine: EngineMemory, tp: int | None = None) -> bool:
    try:
        _capacity(settings, engine, tp)
    except (RequestError, WeightsDoNotFitError):
        return False
    return True
