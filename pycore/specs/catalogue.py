"""Models and GPUs by name."""

from collections.abc import Mapping
from typing import TypeVar

from pycore.specs.gpu_spec import GpuSpec
from pycore.specs.gpus import GPU_ALIASES, GPUS
from pycore.specs.model_spec import ModelSpec
from pycore.specs.models import MODEL_ALIASES, MODELS

_Spec = TypeVar("_Spec", ModelSpec, GpuSpec)


class UnknownNameError(ValueError):
    """No model or GPU of this name.

    Attributes:
        kind: "model" or "gpu".
        name: as it was given.
        near: names that may have been meant, the nearest first; all names if none is near.
    """

    def __init__(self, kind: str, name: str, near: tuple[str, ...]) -> None:
        super().__init__(f"unknown {kind} {name!r}, did you mean {', '.join(near)}?")
        self.kind = kind
        self.name = name
        self.near = near


def find_model(name: str) -> ModelSpec:
    """The model of this name; case, punctuation and the maker before a slash do not matter.

    Raises:
        UnknownNameError: there is none.

    >>> find_model("meta-llama/llama_3_8b").name
    'Llama-3-8B'
    >>> find_model("llama3-8")
    Traceback (most recent call last):
    pycore.specs.catalogue.UnknownNameError: unknown model 'llama3-8', did you mean Llama-3-8B, ...?
    """
    return _find("model", name, MODELS, MODEL_ALIASES)


def find_gpu(name: str) -> GpuSpec:
    """The GPU of this name; see find_model.

    >>> find_gpu("h100").name
    'H100-SXM'
    """
    return _find("gpu", name, GPUS, GPU_ALIASES)


def _plain(name: str) -> str:
    """A name as it is compared.

    >>> _plain("meta-llama/Llama-3_8B")
    'llama38b'
    """
    return "".join(letter for letter in name.rpartition("/")[2].casefold() if letter.isalnum())


def _find(kind: str, name: str, known: Mapping[str, _Spec], aliases: Mapping[str, str]) -> _Spec:
    if name in known:  # the whole catalogue need not be read for a name that is exact
        return known[name]
    by_plain = {_plain(each): each for each in known} | {_plain(each): of for each, of in aliases.items()}
    wanted = _plain(name)
    if wanted in by_plain:
        return known[by_plain[wanted]]
    from difflib import get_close_matches  # here: a browser would load it only for a name that is wrong

    close = get_close_matches(wanted, by_plain, n=5, cutoff=0.6)
    near = tuple(dict.fromkeys(by_plain[each] for each in close))[:3]
    raise UnknownNameError(kind, name, near or tuple(known))
