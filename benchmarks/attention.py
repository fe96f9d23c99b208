"""What reading keys through a block table costs: paged against contiguous attention, in numpy, in one run.

    python -m benchmarks.attention [--rounds N] [--json]

One decode query over 1,000 tokens, blocks shuffled, CPU time, medians of alternating rounds. Two shapes: one
layer with 16 query and 4 KV heads of 64, and the small model of the attention lab, where what numpy costs per
call outweighs the arithmetic. Real kernels pay 20–26 % in the vLLM paper (section 7.1) and 5–10 % in a later
talk: there the indirection is inside one kernel, here every tile is a dozen calls from Python.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy loads: CPU time of one thread

from collections.abc import Callable

from benchmarks.command_line import options_of, print_report
from benchmarks.stopwatch import alternate, machine
from pycore.attention.dense_store import DenseStore
from pycore.attention.kv_store import KVStore
from pycore.attention.paged_store import PagedStore
from pycore.attention.weights import TransformerShape, integers
from pycore.request import Request, Sequence
from pycore.rng import Rng

LENGTH = 1_000  # tokens
BLOCK_SIZES = (1, 4, 16, 64)
CALLS = 50  # a round
GOAL = 3.0  # paged / contiguous at block 16
SHAPES = {
    "16 query heads, 4 KV heads of 64": TransformerShape(
        num_layers=1, num_heads=16, num_kv_heads=4, head_dim=64
    ),
    "4 query heads, 2 KV heads of 8 (the lab's model)": TransformerShape(num_layers=1),
}


def filled(store: KVStore, shape: TransformerShape, seq: Sequence) -> KVStore:
    """The store with LENGTH tokens of random keys and values, the last of them not yet counted."""
    rng, dims = Rng(0), (LENGTH, shape.num_kv_heads, shape.head_dim)
    keys = (integers(rng.fork("keys"), *dims) / 4).astype(shape.dtype)
    values = (integers(rng.fork("values"), *dims) / 4).astype(shape.dtype)
    store.write(0, seq, keys, values)
    store.advance(seq, LENGTH - 1)
    return store


def paged(shape: TransformerShape, block_size: int) -> PagedStore:
    """An empty store over one shuffled table."""
    blocks = list(range(-(-LENGTH // block_size)))
    Rng(0).fork("blocks").shuffle(blocks)
    table = tuple(blocks)
    return PagedStore(shape, len(table), block_size, lambda _: table)


def measure(title: str, shape: TransformerShape, rounds: int) -> dict:
    """One shape: microseconds a query, and each against the contiguous one.

    Returns:
        {"shape", "contiguous_us", "rows": [{"name", "us", "ratio", "spread"}], "ratio_at_16", "goal_met"}.
    """
    seq = Sequence(Request(0, 0, LENGTH, 1))
    query = (integers(Rng(0).fork("query"), 1, shape.num_heads, shape.head_dim) / 4).astype(shape.dtype)
    stores = {"contiguous": filled(DenseStore(shape, LENGTH), shape, seq)}
    for block_size in BLOCK_SIZES:
        stores[f"block {block_size}"] = filled(paged(shape, block_size), shape, seq)
    contenders = {f"{name}, in tiles": repeated(store.attend, seq, query) for name, store in stores.items()}
    contenders |= {
        f"{name}, gathered": repeated(store.attend_gathered, seq, query)
        for name, store in stores.items()
        if isinstance(store, PagedStore)
    }
    timings = alternate(contenders, rounds)
    base = timings.pop("contiguous, in tiles").median
    rows = [
        {
            "name": name,
            "us": round(timing.median / CALLS * 1e6, 1),
            "ratio": round(timing.median / base, 2),
            "spread": round(timing.spread, 2),
        }
        for name, timing in timings.items()
    ]
    at_16 = next(row["ratio"] for row in rows if row["name"] == "block 16, in tiles")
    return {
        "shape": title,
        "contiguous_us": round(base / CALLS * 1e6, 1),
        "rows": rows,
        "ratio_at_16": at_16,
        "goal_met": at_16 <= GOAL,
    }


def repeated(attend: Callable, seq: Sequence, query: object) -> Callable[[], Callable[[], None]]:
    """CALLS queries of layer 0, in the form that `alternate` takes."""

    def work() -> None:
        for _ in range(CALLS):
            attend(0, seq, query)

    return lambda: work


def show(report: dict) -> None:
    """Prints the report as plain tables."""
    print(report["machine"])
    for result in report["shapes"]:
        print(f"\n{result['shape']}, {LENGTH:,} tokens: contiguous {result['contiguous_us']} µs a query")
        for row in result["rows"]:
            print(
                f"  {row['name']:<24}{row['us']:>9.1f} µs{row['ratio']:>7.2f} ×{row['spread']:>8.0%} spread"
            )
        met = "met" if result["goal_met"] else "not met"
        print(f"  block 16 in tiles: {result['ratio_at_16']} × contiguous (goal {GOAL}: {met})")


def main() -> None:
    """Reads the options, measures, prints."""
    options = options_of("attention", __doc__, rounds=9).parse_args()
    report = {
        "version": 1,
        "machine": machine(),
        "shapes": [measure(title, shape, options.rounds) for title, shape in SHAPES.items()],
    }
    print_report(report, show, options.json)


if __name__ == "__main__":
    main()
