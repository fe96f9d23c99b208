"""How long each request took, and what all of them come to.

    arrival ──queueing──▶ admitted ──────▶ first token ──────── a token every TPOT ────────▶ last token
       └──────────────── TTFT ─────────────────┘                                                │
       └──────────────────────────────── end to end ────────────────────────────────────────────┘

Memory is 8 bytes a request and time, whatever else is kept of it is kept by whoever is told.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pycore.metrics import Spread, spread
from pycore.named_tuples import of_fields
from pycore.request import Request, Sequence
from pycore.samples import CHUNK, Samples


class Served(NamedTuple):
    """One request that ran to its end.

    Attributes:
        request: what was asked.
        queueing_ns, ttft_ns, end_to_end_ns: from its arrival to its first admission, first and last token;
            of a request of several sequences the last token of the last of them.
        preemptions: how often it was preempted.
        num_recomputed, num_swapped: tokens whose KV it lost and computed again, or had moved to the CPU.
    """

    request: Request
    queueing_ns: int
    ttft_ns: int
    end_to_end_ns: int
    preemptions: int
    num_recomputed: int
    num_swapped: int

    @property
    def tpot_ns(self) -> int | None:
        """Time per output token after the first, rounded down; None where there is only one."""
        rest = self.request.output_len - 1
        return (self.end_to_end_ns - self.ttft_ns) // rest if rest else None

    @property
    def normalized_ns(self) -> int:
        """End to end for each output token, rounded down (Orca and vLLM papers)."""
        return self.end_to_end_ns // self.request.output_len


def served(last: Sequence) -> Served:
    """What is known of a request of which `last` was the last sequence to finish."""
    request = last.request
    arrival = request.arrival_ns
    fields = (
        request,
        last.admitted_ns - arrival,
        last.first_token_ns - arrival,
        last.finished_ns - arrival,
        last.preemptions,
        last.num_recomputed,
        last.num_swapped,
    )
    return of_fields(Served, fields)


@dataclass(frozen=True, slots=True)
class Slo:
    """What is promised to each request (service level objective): both, or it does not count.

    Attributes:
        ttft_ns: longest time to the first token.
        tpot_ns: longest time per output token after it.

    Raises:
        ValueError: a time below 1 ns.

    >>> slo = Slo(ttft_ns=2 * 10**9, tpot_ns=10**8)
    >>> request = Request(0, 0, prompt_len=5, output_len=11)
    >>> [slo.met_by(Served(request, 0, 10**9, end * 10**8, 0, 0, 0)) for end in (20, 21)]
    [True, False]
    """

    ttft_ns: int
    tpot_ns: int

    def __post_init__(self) -> None:
        if self.ttft_ns < 1 or self.tpot_ns < 1:
            raise ValueError(
                f"an SLO of {self.ttft_ns} ns to the first token and {self.tpot_ns} ns a token: "
                "expected at least 1 ns each"
            )

    def met_by(self, each: Served) -> bool:
        """Whether a request got what was promised."""
        if each.ttft_ns > self.ttft_ns:
            return False
        # Not by the rounded time per token: what is over by less than a nanosecond is over.
        return each.end_to_end_ns - each.ttft_ns <= self.tpot_ns * (each.request.output_len - 1)


class Latencies:
    """Adds up requests one at a time.

    Attributes:
        num_served: requests.
        num_in_slo: of those, how many the SLO was met for; 0 without one.
        num_tokens_in_slo: output tokens of these.
        tokens_in, tokens_out: prompt tokens of all, and output tokens.
        end_ns: when the last one ended.
    """

    def __init__(self, slo: Slo | None = None) -> None:
        """Nobody was served; `slo` is what is promised, if anything is."""
        self.num_served = self.num_in_slo = self.num_tokens_in_slo = 0
        self.tokens_in = self.tokens_out = self.end_ns = 0
        self._slo = slo
        self._queueing, self._ttft, self._tpot = Samples(), Samples(), Samples()
        self._end_to_end, self._normalized = Samples(), Samples()
        self._preemptions: Counter[int] = Counter()
        self._recomputed: Counter[int] = Counter()
        self._swapped: Counter[int] = Counter()

    def add(self, each: Served) -> None:
        """Adds a request; they come in the order in which they ended."""
        request = each.request
        output_len, end_to_end_ns = request.output_len, each.end_to_end_ns
        tokens = output_len * request.num_seqs
        self.num_served += 1
        self.tokens_in += request.prompt_len
        self.tokens_out += tokens
        self.end_ns = request.arrival_ns + end_to_end_ns
        if self._slo is not None and self._slo.met_by(each):
            self.num_in_slo += 1
            self.num_tokens_in_slo += tokens
        self._queueing.append(each.queueing_ns)
        self._ttft.append(each.ttft_ns)
        self._end_to_end.append(end_to_end_ns)
        self._normalized.append(end_to_end_ns // output_len)
        if output_len > 1:
            self._tpot.append((end_to_end_ns - each.ttft_ns) // (output_len - 1))
        if not self.num_served % CHUNK:
            for samples in self._times().values():
                samples.close_piece()
        if each.preemptions:
            self._preemptions[each.preemptions] += 1
            if each.num_recomputed:
                self._recomputed[each.num_recomputed] += 1
            if each.num_swapped:
                self._swapped[each.num_swapped] += 1

    def _times(self) -> dict[str, Samples]:
        return {
            "queueing": self._queueing,
            "ttft": self._ttft,
            "tpot": self._tpot,
            "end_to_end": self._end_to_end,
            "normalized": self._normalized,
        }

    def spreads(self) -> dict[str, Spread]:
        """How each time (ns), and each count of a request, is distributed, by name."""
        return {
            **{name: samples.spread() for name, samples in self._times().items()},
            "preemptions": self._spread_of(self._preemptions),
            "recomputed": self._spread_of(self._recomputed),
            "swapped": self._spread_of(self._swapped),
        }

    def percentiles(self) -> dict[str, list[int]]:
        """Of the times by which a distribution is drawn, 0th to 100th (ns); see `Samples.at`."""
        times = self._times()
        return {name: times[name].at(range(101)) for name in ("ttft", "tpot", "end_to_end")}

    def _spread_of(self, counts: Mapping[int, int]) -> Spread:
        return spread_of_counts({0: self.num_served - sum(counts.values()), **counts})


def spread_of_counts(counts: Mapping[int, int]) -> Spread:
    """The spread of values of which many are equal: how often each occurs.

    >>> spread_of_counts({0: 1, 4: 2}) == spread([0, 4, 4])
    True
    """
    num = sum(counts.values())
    if not num:
        return spread(())
    ordered = sorted(value for value, count in counts.items() if count)
    ranks = [max(1, -(-percent * num // 100)) for percent in (50, 90, 99)]
    total = sum(value * count for value, count in counts.items())
    return Spread(total / num, *_at_ranks(ordered, counts, ranks), ordered[-1])


def _at_ranks(ordered: Iterable[int], counts: Mapping[int, int], ranks: Iterable[int]) -> list[int]:
    """The values at these ranks from 1 on, ascending."""
    found, below = [], 0
    left = list(ranks)
    for value in ordered:
        below += counts[value]
        while left and left[0] <= below:
            found.append(value)
            del left[0]
    return found
