"""How fast blocks and slots are handed out and taken back, beside other engines' own code.

    python -m benchmarks.pool [--peer nano-vllm --peer vllm --peer-path FOLDER …] [--json]

Three loads, CPU time, medians of alternating rounds in one process:
    chunks  one million blocks in pieces of 1–32 (fixed seed), pool full, the oldest piece freed first
    single  one million blocks, one at a time, the same way
    decode  1,000 sequences × 512 decode steps at block 16: admit, grow, commit, free
"""

from collections import deque
from collections.abc import Callable

from benchmarks.command_line import add_peers, missing_peer, options_of, print_report, ratio_line
from benchmarks.peers import PEERS, Peer, PeerMissing, Pool
from benchmarks.stopwatch import alternate, machine
from pycore.events import NullLog
from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import FREE_ORDERS
from pycore.memory.paged import PagedAllocator
from pycore.request import Request, Sequence
from pycore.rng import Rng

NUM_BLOCKS = 1_000_000  # blocks allocated and freed in a pool load
POOL_BLOCKS = 8192
DECODE = {"num_seqs": 1000, "num_steps": 512, "block_size": 16, "prompt_len": 32}

# Millions a CPU second; one shared core, ± 30 %, another machine and day: for orientation, not for ratios.
RATES_ELSEWHERE = {
    "chunks": {"vLLM caching on": 1.76, "vLLM caching off": 2.05, "nano-vllm": 1.59},
    "decode": {"vLLM allocate_slots": 0.10, "nano-vllm": 1.01},
}
GOAL = 2.0


def plan(largest: int) -> list[int]:
    """Operations on a full pool, the same for all: n > 0 allocates n blocks, 0 frees the oldest piece."""
    sizes = Rng(1).fork("chunks")
    held: deque[int] = deque()
    operations, left, free = [], NUM_BLOCKS, POOL_BLOCKS
    while left:
        n = min(left, sizes.randrange(1, largest + 1))
        while free < n:
            free += held.popleft()
            operations.append(0)
        operations.append(n)
        held.append(n)
        free -= n
        left -= n
    return operations + [0] * len(held)


def replay(operations: list[int], pool: Pool) -> Callable[[], None]:
    """The plan on one pool, as the work to be timed."""
    allocate, free = pool

    def work() -> None:
        held: deque = deque()
        for n in operations:
            if n:
                held.append(allocate(n))
            else:
                free(held.popleft())

    return work


def our_pool(order: str) -> Pool:
    """A BlockPool of POOL_BLOCKS with one of FREE_ORDERS."""
    pool = BlockPool(POOL_BLOCKS, FREE_ORDERS[order](range(POOL_BLOCKS), Rng(0)))
    return pool.allocate, pool.free


def our_decode(
    order: str, num_seqs: int, num_steps: int, block_size: int, prompt_len: int
) -> Callable[[], None]:
    """The decode load through PagedAllocator, as Scheduler and Engine drive it."""
    num_blocks = num_seqs * (-(-(prompt_len + num_steps) // block_size) + 1)
    pool = BlockPool(num_blocks, FREE_ORDERS[order](range(num_blocks), Rng(0)))
    allocator = PagedAllocator(pool, block_size, NullLog())
    seqs = [Sequence(Request(i, 0, prompt_len, num_steps + 1)) for i in range(num_seqs)]

    def work() -> None:
        for seq in seqs:
            assert allocator.allocate_slots(seq, prompt_len)
            seq.num_computed = prompt_len
            seq.num_tokens += 1
        allocator.commit(seqs)
        for _ in range(num_steps):
            for seq in seqs:
                assert allocator.allocate_slots(seq, 1)
                seq.num_computed += 1
                seq.num_tokens += 1
            allocator.commit(seqs)
        for seq in seqs:
            allocator.free(seq)
        assert pool.num_free == num_blocks

    return work


def contenders(load: str, peers: list[Peer]) -> tuple[dict[str, Callable], int]:
    """Name → set-up of the work for one load, and how many operations that work is."""
    if load == "decode":
        ours = {f"kvscope {order}": lambda order=order: our_decode(order, **DECODE) for order in FREE_ORDERS}
        theirs = {peer.title: lambda peer=peer: peer.decode(**DECODE) for peer in peers if peer.decode}
        return ours | theirs, DECODE["num_seqs"] * DECODE["num_steps"]
    operations = plan(32 if load == "chunks" else 1)
    ours = {
        f"kvscope {order}": lambda order=order: replay(operations, our_pool(order)) for order in FREE_ORDERS
    }
    theirs = {
        f"{peer.title} {variant}".strip(): lambda build=build: replay(operations, build(POOL_BLOCKS))
        for peer in peers
        for variant, build in peer.pools.items()
    }
    return ours | theirs, NUM_BLOCKS


def measure(load: str, peers: list[Peer], rounds: int) -> dict:
    """One load for all contenders.

    Returns:
        {"load", "unit", "rows": [{"name", "rate" in millions a CPU second, "spread", "ours"}],
        "ratio": our fastest free order against the fastest peer, None without a peer}.
    """
    work, count = contenders(load, peers)
    rows = [
        {
            "name": name,
            "rate": round(count / timing.median / 1e6, 3),
            "spread": round(timing.spread, 2),
            "ours": name.startswith("kvscope "),
        }
        for name, timing in alternate(work, rounds).items()
    ]
    ours = max(row["rate"] for row in rows if row["ours"])
    theirs = max((row["rate"] for row in rows if not row["ours"]), default=None)
    unit = "M steps/s" if load == "decode" else "M blocks/s"
    return {
        "load": load,
        "unit": unit,
        "rows": rows,
        "ratio": round(ours / theirs, 2) if theirs else None,
        "rates_elsewhere": RATES_ELSEWHERE.get(load, {}),
    }


def show(report: dict) -> None:
    """Prints the report as plain tables."""
    print(report["machine"])
    for peer in report["peers"]:
        print(f"peer {peer['title']}: {peer['note']}")
    for missing in report["missing"]:
        print(f"peer missing: {missing}")
    for result in report["loads"]:
        print(f"\n{result['load']:<44}{result['unit']:>12}{'spread':>9}")
        for row in result["rows"]:
            print(f"  {row['name']:<42}{row['rate']:>12.2f}{row['spread']:>9.0%}")
        print(ratio_line(result["ratio"], "fastest of ours / fastest peer", GOAL, result["rates_elsewhere"]))


def main() -> None:
    """Reads the options, measures, prints."""
    parser = options_of("pool", __doc__, rounds=5)
    add_peers(parser, PEERS)
    parser.add_argument("--load", action="append", choices=["chunks", "single", "decode"], default=[])
    options = parser.parse_args()
    peers, missing = [], []
    for name in options.peer:
        try:
            peers.append(PEERS[name](options.peer_path))
        except PeerMissing as problem:
            missing.append(missing_peer(name, problem))
    report = {
        "version": 1,
        "machine": machine(),
        "peers": [{"title": peer.title, "note": peer.note} for peer in peers],
        "missing": missing,
        "loads": [
            measure(load, peers, options.rounds) for load in options.load or ["chunks", "single", "decode"]
        ],
    }
    print_report(report, show, options.json)


if __name__ == "__main__":
    main()
