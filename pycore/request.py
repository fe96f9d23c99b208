"""What was asked (Request) and how far it got (Sequence)."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Request:
    """One generation request, as it arrives.

    Attributes:
        id: position in order of arrival; also its name, `r<id>`.
        arrival_ns: arrival time in ns from the start of the run.
        prompt_len: prompt tokens, at least 1.
        output_len: tokens it will generate, at least 1. The engine does not act on it before the last
            token is out; Oracle and Pow2 reservation and the waste account are allowed to know it.

    Raises:
        ValueError: a length below 1 or an arrival before 0.
    """

    id: int
    arrival_ns: int
    prompt_len: int
    output_len: int

    def __post_init__(self) -> None:
        if self.prompt_len < 1 or self.output_len < 1 or self.arrival_ns < 0:
            raise ValueError(
                f"request {self.id}: prompt {self.prompt_len} and output {self.output_len} must be at least "
                f"1 token, arrival {self.arrival_ns} ns at least 0"
            )

    @property
    def total_len(self) -> int:
        """Prompt plus output, in tokens."""
        return self.prompt_len + self.output_len

    @property
    def kv_len(self) -> int:
        """KV slots written by the time it finishes: the last output token is never fed back."""
        return self.prompt_len + self.output_len - 1


class Status(Enum):
    """Where a sequence is in its life."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    REJECTED = "rejected"


class Sequence:
    """The state of one request in the engine.

    Attributes:
        request: what was asked.
        id, total_len: the request's id, and its prompt plus output tokens.
        num_tokens: tokens known so far, prompt and generated.
        num_computed: of those, how many have their KV in memory; 0 after a preemption by recompute.
        status: see `Status`.
        preemptions: how often it was preempted.
        admitted_ns, first_token_ns, finished_ns: times in ns, None until they happen; admitted_ns is the
            first admission.
    """

    __slots__ = (
        "admitted_ns",
        "finished_ns",
        "first_token_ns",
        "id",
        "num_computed",
        "num_tokens",
        "preemptions",
        "request",
        "status",
        "total_len",
    )

    def __init__(self, request: Request) -> None:
        self.request = request
        self.id = request.id
        self.total_len = request.total_len
        self.num_tokens = request.prompt_len
        self.num_computed = 0
        self.status = Status.WAITING
        self.preemptions = 0
        self.admitted_ns: int | None = None
        self.first_token_ns: int | None = None
        self.finished_ns: int | None = None

    def __repr__(self) -> str:
        return f"<r{self.id} {self.status.value} {self.num_computed}/{self.num_tokens} tokens>"

    @property
    def num_generated(self) -> int:
        """Output tokens so far."""
        return self.num_tokens - self.request.prompt_len

    @property
    def num_uncomputed(self) -> int:
        """Tokens whose KV the next forward pass has to write."""
        return self.num_tokens - self.num_computed
