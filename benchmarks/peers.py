"""Other projects' block pools, timed by their own code.

Nothing of a peer is kept here: its modules are imported from an installed package or from a folder into
which its wheel was unpacked. Both peers are whole inference engines whose packages import a GPU stack at
start; their memory managers do not use it. So only the modules named below are run, and the packages around
them are replaced by empty ones (nano-vllm) or by empty names (vLLM). Every line that is timed is the peer's.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType

# One contender of the pool loads: allocate(n) returns what free() takes back.
Pool = tuple[Callable[[int], object], Callable[[object], object]]


class PeerMissing(Exception):  # noqa: N818 - a state of the machine, not an error of the benchmark
    """The peer is neither installed nor in one of the folders given."""


@dataclass(frozen=True, slots=True)
class Peer:
    """What one project lets us time.

    Attributes:
        title: name and version.
        note: how its code was reached, for the report.
        pools: variant → builds a pool of so many blocks.
        decode: builds the decode load (sequences, steps, block size, prompt tokens), or None.
    """

    title: str
    note: str
    pools: dict[str, Callable[[int], Pool]]
    decode: Callable[[int, int, int, int], Callable[[], object]] | None


class EmptyNames(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers imports below `root` with modules of empty names, but for those in `real`."""

    def __init__(self, root: Path, package: str, real: Sequence[str]) -> None:
        self._root = root
        self._package = package
        self._real = real

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != self._package or name in self._real:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__path__ = [str(self._root.joinpath(*module.__name__.split(".")))]

        def empty(name: str):
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {"__init__": lambda self, *args, **kwargs: None})

        module.__getattr__ = empty


def root_of(package: str, folders: Sequence[Path]) -> Path:
    """The folder that holds `package`: one of `folders`, or where it is installed."""
    for folder in folders:
        if (folder / package).is_dir():
            return folder
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise PeerMissing(package)
    return Path(next(iter(spec.submodule_search_locations))).parent


def version_of(root: Path, names: Sequence[str]) -> str:
    for distribution in metadata.distributions(path=[str(root)]):
        if distribution.name in names:
            return f"{distribution.name} {distribution.version}"
    return names[0]


def vllm(folders: Sequence[Path]) -> Peer:
    """vLLM V1's `BlockPool`, prefix caching on and off (no block is ever hashed in this load)."""
    root = root_of("vllm", folders)
    real = ("vllm.v1.core.block_pool", "vllm.v1.core.kv_cache_utils")
    sys.meta_path.insert(0, EmptyNames(root, "vllm", real))
    module = importlib.import_module("vllm.v1.core.block_pool")

    def pool(num_blocks: int, enable_caching: bool) -> Pool:
        blocks = module.BlockPool(num_blocks + 1, enable_caching, 16)  # one is the null block
        return blocks.get_new_blocks, blocks.free_blocks

    return Peer(
        version_of(root, ("vllm",)),
        f"only {' and '.join(real)} run; the rest of the package is empty names, so no decode load",
        {
            "caching off": lambda num_blocks: pool(num_blocks, False),
            "caching on": lambda num_blocks: pool(num_blocks, True),
        },
        None,
    )


def nano_vllm(folders: Sequence[Path]) -> Peer:
    """nano-vllm's `BlockManager`. It always caches prefixes, so its decode load also hashes full blocks."""
    root = root_of("nanovllm", folders)
    package = ModuleType("nanovllm")
    package.__path__ = [str(root / "nanovllm")]
    sys.modules["nanovllm"] = package
    try:
        block_manager = importlib.import_module("nanovllm.engine.block_manager")
    except ModuleNotFoundError as missing:
        raise PeerMissing(f"nanovllm needs {missing.name}") from missing
    sequence = importlib.import_module("nanovllm.engine.sequence").Sequence

    def pool(num_blocks: int) -> Pool:
        manager = block_manager.BlockManager(num_blocks, 16)
        take, give, free_ids = manager._allocate_block, manager._deallocate_block, manager.free_block_ids

        def allocate(n: int) -> list:
            return [take(free_ids[0]) for _ in range(n)]

        def free(blocks: list) -> None:
            for block in blocks:
                block.ref_count -= 1
                give(block.block_id)

        return allocate, free

    def decode(num_seqs: int, num_steps: int, block_size: int, prompt_len: int) -> Callable[[], object]:
        sequence.block_size = block_size
        blocks_each = -(-(prompt_len + num_steps) // block_size) + 1
        manager = block_manager.BlockManager(num_seqs * blocks_each, block_size)
        seqs = [sequence(list(range(i, i + prompt_len))) for i in range(0, num_seqs * prompt_len, prompt_len)]

        def work() -> None:
            for seq in seqs:
                manager.allocate(seq)
                seq.append_token(0)
            for _ in range(num_steps):
                for seq in seqs:
                    assert manager.can_append(seq)
                    manager.may_append(seq)
                    seq.append_token(0)
            for seq in seqs:
                manager.deallocate(seq)

        return work

    return Peer(
        version_of(root, ("nano-vllm", "nano-vllm-fork")),
        "only nanovllm.engine.block_manager and .sequence run; pool loads go through _allocate_block and "
        "_deallocate_block as its allocate and deallocate do, without hashing; its decode load hashes each "
        "block that fills up, since its prefix cache cannot be turned off",
        {"": pool},
        decode,
    )


PEERS: dict[str, Callable[[Sequence[Path]], Peer]] = {"nano-vllm": nano_vllm, "vllm": vllm}
