"""The runs whose recordings are kept: settings as they stand in the page's address, and how to record them.

Standard library, pycore and app/backend only, so that any interpreter can run it.
"""

from collections.abc import Iterator
from pathlib import Path

from app.backend.settings import STEP_NS, engine_config, normalise
from pycore.assembly import build_engine
from pycore.events import EventLog
from pycore.recorder import Recording, record
from pycore.snapshot import Snapshot
from pycore.workload.synthetic import LOADS

FOLDER = Path(__file__).parent
DIGESTS = FOLDER / "digests.json"

RUNS: dict[str, dict[str, int | str]] = {
    "the-page-as-it-opens": {},
    "blocks-of-1-in-held-memory": {"bs": 1, "hold": 1},
    "blocks-of-16-in-held-memory": {"bs": 16, "hold": 1, "seed": 11},
    "small-pool-that-preempts": {"blocks": 24, "wm": 0, "seed": 7},
    "watermark-and-batch-limit": {"wm": 25, "seqs": 6, "sc": "uniform"},
    "shuffled-long-tail": {"sc": "long_tail", "order": "shuffled", "seed": 3},
    "last-freed-first": {"order": "lifo", "seed": 9},
    "parallel-samples": {"sc": "parallel_chat"},
    "beams-swapped-out": {"sc": "beam", "blocks": 40, "wm": 0, "rec": "swap", "cpu": 24},
    "operators-prefix": {"sc": "system_prompt", "order": "shuffled"},
    "plain-parallel-and-beam": {"sc": "mixed_decoding", "blocks": 48},
    "beams-in-regions": {"sc": "beam", "mode": "contiguous", "res": "oracle"},
    "hash-chain": {"sc": "shared_prompts", "cache": "hash_chain"},
    "hash-chain-as-in-vllm-v1": {
        "sc": "shared_prompts",
        "cache": "hash_chain",
        "rules": "vllm-v1",
        "budget": 24,
    },
    "hash-chain-uncached-last": {"sc": "chats", "cache": "hash_chain", "uncached": "tail", "blocks": 40},
    "radix-tree": {"sc": "shared_prompts", "cache": "radix", "blocks": 48},
    "radix-tree-as-in-sglang": {"sc": "shared_prompts", "cache": "radix", "rules": "sglang", "queue": "lpm"},
    "radix-tree-least-often-used": {"sc": "chats", "cache": "radix", "evict": "lfu", "queue": "dfs_weight"},
    "groups-as-in-vllm-v0": {"sc": "mixed_decoding", "rules": "vllm-v0", "blocks": 48},
    "max-first-fit": {"mode": "contiguous", "res": "max"},
    "pow2-first-fit": {"mode": "contiguous", "res": "pow2", "sc": "long_tail"},
    "oracle-first-fit": {"mode": "contiguous", "res": "oracle"},
    "max-buddy": {"mode": "contiguous", "res": "max", "place": "buddy", "sc": "uniform"},
    "pow2-buddy-odd-pool": {"mode": "contiguous", "res": "pow2", "place": "buddy", "blocks": 63},
    "oracle-buddy": {"mode": "contiguous", "res": "oracle", "place": "buddy", "seed": 2},
    "three-requests-paged": {"sc": "three_requests", "bs": 1, "blocks": 24, "steps": 12},
    "three-requests-max": {"sc": "three_requests", "bs": 1, "blocks": 40, "steps": 12, "mode": "contiguous"},
    "some-never-fit": {"blocks": 8, "sc": "long_tail"},
    "two-thousand-steps": {"sc": "long_tail", "steps": 2000, "seed": 42},
}

# Of these, a few frames are kept as text, to be read when a digest changes.
READABLE = {
    "the-page-as-it-opens": (0, 1, 2, 30, 90),
    "small-pool-that-preempts": (1, 5, 6, 7, 8, 40),
    "oracle-first-fit": (1, 20, 60),
    "pow2-buddy-odd-pool": (1, 20, 60),
    "radix-tree": (1, 6, 20, 40),
    "three-requests-paged": tuple(range(13)),
    "three-requests-max": tuple(range(13)),
}


def recording_of(settings: dict[str, int | str]) -> Recording:
    """The run that the page's simulate request with these settings records."""
    values, notices = normalise("simulate", settings)
    if notices:
        raise ValueError(f"{settings}: {notices}")
    load = LOADS[values["sc"]](values["seed"], STEP_NS)
    engine = build_engine(
        engine_config(values, load.max_len, STEP_NS, load.prefix_len), load.requests, EventLog()
    )
    return record(engine, values["steps"])


def digests() -> dict[str, dict]:
    """Name of a run → its settings and the digest of its recording."""
    return {
        name: {"settings": settings, "digest": recording_of(settings).digest()}
        for name, settings in RUNS.items()
    }


def readable(name: str) -> str:
    """The kept frames of a run as text."""
    recording = recording_of(RUNS[name])
    return "\n".join(line for step in READABLE[name] for line in [*_lines(recording[step]), ""])


def _lines(frame: Snapshot) -> Iterator[str]:
    memory, waste = frame.memory, frame.waste
    yield f"step {frame.step}, {frame.now_ns} ns"
    yield (
        f"  running {frame.num_running}, waiting {list(frame.waiting)}, finished {frame.num_finished}, "
        f"rejected {frame.num_rejected}, preemptions {frame.num_preemptions}"
    )
    yield (
        f"  real {waste.real}, reserved {waste.reserved}, internal {waste.internal}, "
        f"external {waste.external}, usable {waste.usable}; head wants {frame.head_needed}, "
        f"holes {list(memory.holes)}"
    )
    for row in zip(memory.seqs, memory.tokens, memory.final, memory.held, memory.places, strict=True):
        yield "  r{}: {} of {} tokens, {} slots at {}".format(*row[:4], list(row[4]))
    if frame.prefixes is not None:
        yield f"  cached {list(memory.cached)}"
        nodes = frame.prefixes
        for node in zip(
            nodes.id, nodes.parent, nodes.start, nodes.length, nodes.users, nodes.values, strict=True
        ):
            yield "  n{} after n{}: {} + {} tokens, {} users, blocks {}".format(*node[:5], list(node[5]))
    for event in frame.events:
        yield f"  {event}"
