"""SGLang's radix tree, timed by its own code.

Nothing of it is kept here: the modules named in REAL are imported from an installed `sglang` or from a folder
into which its wheel was unpacked; the rest of the package is empty names. PyTorch, which the tree uses for
its slot numbers only, is stood in for by thin wrappers around `array`: slicing, copying and joining one costs
less than the same on a tensor of this size, so the peer loses nothing by it.
"""

import importlib
import sys
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from benchmarks.peers import EmptyNames, PeerMissing, root_of, version_of

_PACKAGE = "sglang.srt.mem_cache."
REAL = tuple(
    _PACKAGE + name
    for name in (
        "radix_cache",
        "base_prefix_cache",
        "cache_init_params",
        "evict_policy",
        "events",
        "utils",
    )
)

# Serves prompts one after the other; returns their hit tokens.
Serve = Callable[[Sequence[array], int], int]


class _Slots:
    """As much of a one-dimensional tensor of int64 as the tree uses."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: array) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice) -> "_Slots":
        return _Slots(self.numbers[part])

    def clone(self) -> "_Slots":
        return _Slots(self.numbers[:])


def _stand_in_for_torch() -> ModuleType:
    torch = ModuleType("torch")
    torch.Tensor = _Slots
    torch.int64 = "int64"
    torch.device = type("device", (), {"__init__": lambda self, name: None})
    torch.empty = lambda shape, dtype=None, device=None: _Slots(array("q", bytes(8 * shape[0])))
    return torch


class _Pool:
    """The tokens that are free; the tree gives evicted slots back to it."""

    device = "cpu"

    def __init__(self, capacity: int) -> None:
        self.free = capacity

    def free_segment(self, slots: _Slots, start_pos: int) -> None:
        self.free += len(slots)


def sglang(folders: Sequence[Path]) -> tuple[str, Serve]:
    """Name and version of the peer, and how it serves prompts through its tree at page size 1.

    Raises:
        PeerMissing: there is no `sglang`.
    """
    root = root_of("sglang", folders)
    sys.modules.setdefault("torch", _stand_in_for_torch())
    sys.meta_path.insert(0, EmptyNames(root, "sglang", REAL))
    try:
        tree = importlib.import_module(_PACKAGE + "radix_cache")
        base = importlib.import_module(_PACKAGE + "base_prefix_cache")
        init = importlib.import_module(_PACKAGE + "cache_init_params")
    except ImportError as missing:
        raise PeerMissing(f"sglang of this version needs {missing.name}") from missing

    def serve(prompts: Sequence[array], capacity: int) -> int:
        pool = _Pool(capacity)
        cache = tree.RadixCache(init.CacheInitParams(False, None, pool, 1))
        key, match, insert, evict = tree.RadixKey, base.MatchPrefixParams, base.InsertParams, base.EvictParams
        slots = _Slots(array("q", range(max(map(len, prompts)))))
        hits = 0
        for prompt in prompts:
            found = cache.match_prefix(match(key(prompt[:-1])))
            hit, node = found.device_prefix_len, found.last_device_node
            hits += hit
            cache.inc_lock_ref(node)
            new = len(prompt) - hit
            if new > pool.free:
                cache.evict(evict(num_tokens=new - pool.free))
            pool.free -= new
            cache.insert(insert(key(prompt), slots[: len(prompt)]))
            cache.dec_lock_ref(node)
        return hits

    return version_of(root, ("sglang",)), serve
