"""Requests over a pool with a prefix cache: what each admission, and each attempt, finds cached."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import Admitted, EventLog, PrefixHit, Recovered
from pycore.prompt import Prompt
from pycore.request import Request
from pycore.workload.few_shot import Exchange

STEP_NS = 50_000_000
STEPS_AT_MOST = 5000


@dataclass(slots=True)
class Found:
    """Tokens that were looked up, and those that were found.

    Attributes:
        asked, found: sums.
        times: look-ups.
    """

    asked: int = 0
    found: int = 0
    times: int = 0

    def add(self, asked: int, found: int) -> None:
        """Counts one look-up."""
        self.asked += asked
        self.found += found
        self.times += 1

    @property
    def rate(self) -> float:
        """Share that was found, 0 to 1; 0 if nothing was asked."""
        return self.found / self.asked if self.asked else 0.0

    def __add__(self, other: "Found") -> "Found":
        return Found(self.asked + other.asked, self.found + other.found, self.times + other.times)


@dataclass(slots=True)
class AdmissionRun:
    """One run under vLLM V1's rules to its end.

    Attributes:
        first: at each request's first admission.
        again: at those after a preemption.
        in_vain: in each step in which the head of the queue, not preempted before, found no room; as the step
            left the cache.
        first_hits, hits: by request, tokens found at its first admission, and at all its admissions.
        preemptions, steps: of the run.
    """

    first: Found = field(default_factory=Found)
    again: Found = field(default_factory=Found)
    in_vain: Found = field(default_factory=Found)
    first_hits: dict[int, int] = field(default_factory=dict)
    hits: dict[int, int] = field(default_factory=dict)
    preemptions: int = 0
    steps: int = 0


def as_requests(load: Sequence[Exchange], arrival_steps: Sequence[int]) -> list[Request]:
    """The load as requests that say their prompts; arrivals in rising order."""
    return [
        Request(i, step * STEP_NS, len(each.prompt), len(each.output), prompt=Prompt(tuple(each.prompt)))
        for i, (each, step) in enumerate(zip(load, arrival_steps, strict=True))
    ]


def run_admissions(requests: Sequence[Request], memory: MemoryConfig) -> AdmissionRun:
    """Serves the requests; nothing else uses the pool.

    Raises:
        ValueError: it never ends, as some request outgrows the pool.
    """
    config = EngineConfig(memory, SchedulerConfig(rules="vllm-v1"), step_ns=STEP_NS)
    engine = build_engine(config, requests, EventLog())
    run = AdmissionRun()
    prompt_lens = {request.id: request.prompt_len for request in requests}
    while not engine.done:
        if engine.num_steps == STEPS_AT_MOST or engine.scheduler.stuck:
            raise ValueError(f"{memory.num_blocks} blocks of {memory.block_size} do not hold every request")
        before = engine.scheduler.num_preemptions
        engine.step()
        hit = 0
        for event in engine.log.drain():
            if isinstance(event, PrefixHit):
                hit = event.num_tokens  # told just before the admission that it belongs to
            elif isinstance(event, Admitted):
                run.first.add(prompt_lens[event.seq], hit)
                run.hits[event.seq] = run.first_hits[event.seq] = hit
                hit = 0
            elif isinstance(event, Recovered):
                run.again.add(event.num_tokens + hit, hit)
                run.hits[event.seq] += hit
                hit = 0
        if engine.scheduler.waiting and engine.scheduler.num_preemptions == before:
            head = engine.scheduler.waiting[0]
            if not head.preemptions:
                run.in_vain.add(head.num_tokens, engine.allocator.find(head)[0])
    run.preemptions = engine.scheduler.num_preemptions
    run.steps = engine.num_steps
    return run
