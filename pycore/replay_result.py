"""What a replay came to."""

from dataclasses import asdict, dataclass

from pycore.metrics import Spread


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a replay came to. Means are over its steps, of which idle ones are skipped; slots are tokens.

    Attributes:
        num_requests, num_finished, num_rejected, num_preemptions: counts.
        rejected: requests turned away, by reason: "context" (longer than max_len), "pool" (never fits).
        num_hung: requests that wait for ever, since the rules turn nobody away: one that the pool can never
            hold, and those that it holds up (see Scheduler.stuck).
        hung_on: id of the request that can never go on; None if there is none.
        num_steps: iterations run.
        end_ns: simulated time at which the last request finished.
        tokens_in, tokens_out: prompt and output tokens of the finished requests.
        num_recomputed: tokens whose KV was computed again after a preemption.
        num_tokens_swapped: tokens whose KV was moved to CPU memory.
        num_in_slo, num_tokens_in_slo: requests for which the SLO was met, and their output tokens; 0 without
            an SLO.
        capacity: slots in the pool.
        mean: the account of the pool, as means in slots, by name of its field.
        mean_running, max_running, mean_waiting, max_waiting: sequences.
        max_real: most real tokens at the end of a step.
        fragmented_steps: steps in which the head of the queue waited though enough slots were free in all.
        queueing, ttft, end_to_end: ns from arrival to admission, first and last token; of the finished.
        tpot: ns an output token after the first; of requests that have more than one.
        normalized: end to end in ns an output token.
        preemptions, recomputed, swapped: of a request: how often, and how many tokens.
        time_line: see TimeLine.columns; running, waiting, the account of the pool, preemptions so far.
    """

    num_requests: int
    num_finished: int
    num_rejected: int
    num_preemptions: int
    rejected: dict[str, int]
    num_hung: int
    hung_on: int | None
    num_steps: int
    end_ns: int
    tokens_in: int
    tokens_out: int
    num_recomputed: int
    num_tokens_swapped: int
    num_in_slo: int
    num_tokens_in_slo: int
    capacity: int
    mean: dict[str, float]
    mean_running: float
    max_running: int
    mean_waiting: float
    max_waiting: int
    max_real: int
    fragmented_steps: int
    queueing: Spread
    ttft: Spread
    tpot: Spread
    end_to_end: Spread
    normalized: Spread
    preemptions: Spread
    recomputed: Spread
    swapped: Spread
    time_line: dict[str, list]

    @property
    def utilisation(self) -> float:
        """Share of the pool that holds real tokens, mean over the steps."""
        return self.mean["real"] / self.capacity

    @property
    def requests_per_second(self) -> float:
        """Finished requests a second, from the start to the last token."""
        return self.num_finished * 10**9 / max(1, self.end_ns)

    @property
    def tokens_per_second(self) -> float:
        """Output tokens a second."""
        return self.tokens_out * 10**9 / max(1, self.end_ns)

    @property
    def num_judged(self) -> int:
        """Requests of which it is known whether their SLO was met; of those rejected or hung it was not."""
        return self.num_finished + self.num_rejected + self.num_hung

    @property
    def attainment(self) -> float:
        """Share of these for which the SLO was met."""
        return self.num_in_slo / max(1, self.num_judged)

    @property
    def goodput(self) -> float:
        """Requests a second for which the SLO was met."""
        return self.num_in_slo * 10**9 / max(1, self.end_ns)

    def as_dict(self) -> dict:
        """All of it as plain JSON."""
        derived = ("utilisation", "requests_per_second", "tokens_per_second", "attainment", "goodput")
        return {**asdict(self), **{name: getattr(self, name) for name in derived}}
