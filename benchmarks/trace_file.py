"""How fast an Azure trace is read, beside the plain way to write it.

    python -m benchmarks.trace_file

The plain way is csv.DictReader, datetime.strptime, int and a Request a row: the same requests from a good
file, with neither checks nor exact fractions. pandas.read_csv, where it is installed, makes columns, not
requests. CPU time, medians of alternating rounds in one process; the ratio is to the plain way.
"""

import csv
import io
from datetime import datetime

from benchmarks.stopwatch import alternate, machine
from pycore.request import Request
from pycore.rng import Rng
from pycore.workload.trace_file import read_trace

ROWS = 1_000_000
PLAIN_ROWS = 100_000  # the plain way is slow, and its cost a row constant
ROUNDS = 3


def azure_csv(rows: int) -> bytes:
    """Rows as in the Azure trace of 2023: 5.5 a second, prompts to 8,000 and outputs to 1,000 tokens."""
    rng = Rng(5).fork("benchmark")
    at = 0  # 100 ns
    lines = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    for _ in range(rows):
        at += rng.randrange(3_636_363)
        second, fraction = divmod(at, 10**7)
        day, second = divmod(second, 86_400)
        clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{fraction:07d}"
        lines.append(f"2023-11-{day + 16:02d} {clock},{1 + rng.randrange(8000)},{1 + rng.randrange(1000)}")
    return "\n".join(lines).encode()


def plain(data: bytes) -> tuple[Request, ...]:
    """The rows as anyone would read them."""
    start = None
    requests = []
    for row in csv.DictReader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")):
        # %f takes six digits, Azure writes seven.
        at = datetime.strptime(row["TIMESTAMP"][:26], "%Y-%m-%d %H:%M:%S.%f")
        start = start or at
        arrival = int((at - start).total_seconds() * 1e9)
        requests.append(
            Request(len(requests), arrival, int(row["ContextTokens"]), int(row["GeneratedTokens"]))
        )
    return tuple(requests)


def main() -> None:
    """Prints the table."""
    data = azure_csv(ROWS)
    head = b"\n".join(data.split(b"\n", PLAIN_ROWS + 1)[: PLAIN_ROWS + 1])
    for ours, theirs in zip(read_trace(head, "").requests, plain(head), strict=True):
        assert (ours.prompt_len, ours.output_len) == (theirs.prompt_len, theirs.output_len)
        assert abs(ours.arrival_ns - theirs.arrival_ns) < 2000  # the plain way drops the seventh digit
    contenders = {
        "csv.DictReader + strptime": (PLAIN_ROWS, lambda: plain(head)),
        "read_trace": (PLAIN_ROWS, lambda: read_trace(head, "")),
        "read_trace, whole": (ROWS, lambda: read_trace(data, "")),
    }
    try:
        import pandas as pd
    except ImportError:
        print("pandas is not installed: left out")
    else:
        contenders["pandas.read_csv, columns only"] = (
            ROWS,
            lambda: pd.read_csv(io.BytesIO(data), parse_dates=["TIMESTAMP"]),
        )
    timings = alternate({name: lambda work=work: work for name, (_, work) in contenders.items()}, ROUNDS)
    rates = {name: rows / timings[name].median for name, (rows, _) in contenders.items()}
    base = next(iter(rates.values()))
    print(machine())
    print(f"{'':30} {'rows':>10} {'rows/s':>10} {'ratio':>6} {'spread':>7}")
    for name, (rows, _) in contenders.items():
        ratio, spread = rates[name] / base, timings[name].spread
        print(f"{name:30} {rows:10,} {rates[name]:10,.0f} {ratio:5.1f}x {spread:7.1%}")


if __name__ == "__main__":
    main()
