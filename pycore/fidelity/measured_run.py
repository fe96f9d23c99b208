"""A run that was measured on real GPUs: its settings, and what became of each request.

    arrival ──▶ queued ──▶ scheduled ──▶ first token ── a token every TPOT ──▶ last token
       API server │ engine: TTFT and end to end count from here, as vLLM's own metrics do

A request counts as queued when the engine looks into its inbox, which it does between two steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pycore.metrics import Spread, spread
from pycore.specs import Deployment


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How the engine was set up.

    Attributes:
        deployment: what ran on what, the GPU with the bandwidths that the run states.
        max_num_seqs: most sequences at once.
        token_budget: most tokens a step.
        max_len: longest prompt plus output, in tokens.
        num_blocks: of the KV cache; None where the run does not say, and it has to be estimated.
        block_size: token slots a block.
        utilisation: thousandths of the GPU's memory that the engine might use.
        prefix_caching: whether blocks were found again.
        scheduled_ahead: whether a step was scheduled while the one before ran (async scheduling).
        hop_ns: stated latency between two GPUs; None where none is.
        states_link: whether the run states the bandwidth between GPUs, as it is reached.
    """

    deployment: Deployment
    max_num_seqs: int
    token_budget: int
    max_len: int
    num_blocks: int | None = None
    block_size: int = 16
    utilisation: int = 900
    prefix_caching: bool = True
    scheduled_ahead: bool = True
    hop_ns: int | None = None
    states_link: bool = False


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """One request; times in ns from the first arrival.

    Attributes:
        arrival_ns: at the API server.
        prompt_len, output_len: tokens.
        queued_ns, first_token_ns, last_token_ns: see the module. The clock of the engine is another than that
            of the arrivals: the first request is taken to be queued as it arrives.
    """

    arrival_ns: int
    prompt_len: int
    output_len: int
    queued_ns: int
    first_token_ns: int
    last_token_ns: int

    @property
    def ttft_ns(self) -> int:
        """From queued to the first token."""
        return self.first_token_ns - self.queued_ns

    @property
    def tpot_ns(self) -> int | None:
        """Time per output token after the first, rounded down; None where there is only one."""
        rest = self.output_len - 1
        return (self.last_token_ns - self.first_token_ns) // rest if rest else None

    @property
    def end_to_end_ns(self) -> int:
        """From queued to the last token."""
        return self.last_token_ns - self.queued_ns


@dataclass(frozen=True, slots=True)
class Load:
    """Sequences at one moment.

    Attributes:
        now_ns: when, from the first arrival.
        running, waiting: how many.
    """

    now_ns: int
    running: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to, measured or predicted.

    Attributes:
        requests: in order of arrival.
        time_line: running and waiting now and then; may be empty.
    """

    requests: tuple[RequestTimes, ...]
    time_line: tuple[Load, ...] = ()

    @property
    def makespan_ns(self) -> int:
        """From the first request to the last token of all."""
        return max(each.last_token_ns for each in self.requests) - self.requests[0].queued_ns

    @property
    def tokens_per_second(self) -> float:
        """Output tokens of all requests a second."""
        return sum(each.output_len for each in self.requests) * 1e9 / max(1, self.makespan_ns)

    def spreads(self) -> dict[str, Spread]:
        """TTFT, TPOT and end to end (ns), by name."""
        tpots = [each.tpot_ns for each in self.requests]
        return {
            "ttft": spread([each.ttft_ns for each in self.requests]),
            "tpot": spread([each for each in tpots if each is not None]),
            "end_to_end": spread([each.end_to_end_ns for each in self.requests]),
        }


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A measured run.

    Attributes:
        name: of its folder.
        settings, measured: see there.
        source: where it was published; "" where nobody says.
    """

    name: str
    settings: RunSettings
    measured: Outcome
    source: str = ""


def mean_load(time_line: Sequence[Load]) -> tuple[float, float]:
    """Mean of running and of waiting sequences over a time line; 0 over none."""
    count = max(1, len(time_line))
    return (
        sum(each.running for each in time_line) / count,
        sum(each.waiting for each in time_line) / count,
    )
