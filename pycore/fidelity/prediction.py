"""A measured run again, in the simulator: its arrivals, lengths and settings, under vLLM V1's rules.

What vLLM 0.19 does besides, and has to be predicted with it:

- It schedules a step while the one before runs. Who arrives during step k is seen at its end, when step k + 1
  is already under way, and is computed in step k + 2.
- Prefix caching is on. What the prompts say is not known, so none of them finds another's blocks; but a
  preempted request finds those of its own that nobody has taken meanwhile.
"""

from collections import deque
from collections.abc import Generator
from dataclasses import replace

from pycore.assembly import build_engine
from pycore.block_tokens import BlockTokens
from pycore.capacity import VLLM_MEMORY, capacity
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.cost_model import PAPER_KERNEL, CostModel, Efficiency, SerialKernels
from pycore.engine import Engine
from pycore.events import NullLog
from pycore.fidelity.measured_run import Load, MeasuredRun, Outcome, RequestTimes, RunSettings
from pycore.prompt import Prompt
from pycore.request import Request, Sequence

SECOND_NS = 10**9
_STEPS_AT_ONCE = 100
# Before any of it is fitted. A step is scheduled while the one before runs, so the CPU's time does not show;
# KV is read as much slower than weights as the vLLM paper's kernel is slower than one over KV in one piece.
UNFITTED = Efficiency(mfu=950, mbu=950, link=800, overhead_ns=0, kernel=PAPER_KERNEL)


class StalledError(ValueError):
    """The requests of a run cannot all end in its memory.

    Attributes:
        num_ended: how many do.
        num_requests: in all.
    """

    def __init__(self, num_ended: int, num_requests: int) -> None:
        super().__init__(f"{num_ended} of {num_requests} requests end, the others never fit")
        self.num_ended = num_ended
        self.num_requests = num_requests


def num_blocks(settings: RunSettings) -> int:
    """Blocks of the KV cache: as stated, or as estimated.

    Raises:
        WeightsDoNotFitError: none fits.
    """
    if settings.num_blocks is not None:
        return settings.num_blocks
    engine = replace(
        VLLM_MEMORY, max_num_batched_tokens=settings.token_budget, max_num_seqs=settings.max_num_seqs
    )
    return capacity(settings.deployment, settings.block_size, settings.utilisation, engine).num_blocks


def engine_config(settings: RunSettings) -> EngineConfig:
    """The engine that ran.

    Raises:
        WeightsDoNotFitError: no block fits.
        ConfigError: a setting that no engine has.
    """
    return EngineConfig(
        memory=MemoryConfig(
            num_blocks=num_blocks(settings),
            block_size=settings.block_size,
            prefix_cache="hash_chain" if settings.prefix_caching else "none",
        ),
        scheduler=SchedulerConfig(
            max_num_seqs=settings.max_num_seqs,
            rules="vllm-v1",
            token_budget=settings.token_budget,
            reserve_full_prompt=True,
        ),
        max_len=settings.max_len,
        deployment=settings.deployment,
    )


def cost_model(settings: RunSettings, efficiency: Efficiency) -> SerialKernels:
    """How long its steps take; what the run states of the link between GPUs is what is reached of it."""
    link = 1000 if settings.states_link else efficiency.link
    hop_ns = efficiency.hop_ns if settings.hop_ns is None else settings.hop_ns
    reached = replace(efficiency, link=link, hop_ns=hop_ns)
    return SerialKernels(settings.deployment, reached, settings.block_size)


class Rerun:
    """One measured run in the simulator, step by step.

    Attributes:
        engine: what runs.
        finished: requests that ended so far, in the order in which they did.
        time_line: a load for each second.
    """

    def __init__(self, run: MeasuredRun, cost: CostModel) -> None:
        """A rerun before its first step."""
        self._ahead = run.settings.scheduled_ahead
        self._requests = requests_of(run)
        self._queued_ns: dict[int, int] = {}
        self._coming = deque(self._requests)
        self.engine: Engine = build_engine(engine_config(run.settings), self._requests, NullLog())
        self.engine.cost_model = cost
        self._before_ns = 0  # when the step before began
        self.finished: list[Sequence] = []
        self.time_line: list[Load] = []

    @property
    def done(self) -> bool:
        """Whether all requests have ended, or none of those left ever will."""
        return self.engine.done or self.engine.scheduler.stuck

    def step(self) -> None:
        """Runs one iteration."""
        engine = self.engine
        if engine.scheduler.idle:
            engine.skip_idle()
            self._before_ns = engine.now_ns
        by_ns = self._before_ns if self._ahead else engine.now_ns
        while self._coming and self._coming[0].arrival_ns <= by_ns:
            self._queued_ns[self._coming.popleft().id] = by_ns
        self._before_ns = engine.now_ns
        self.finished += engine.step(by_ns)
        running, waiting = len(engine.scheduler.running), len(engine.scheduler.waiting)
        while len(self.time_line) < engine.now_ns // SECOND_NS:
            self.time_line.append(Load((len(self.time_line) + 1) * SECOND_NS, running, waiting))

    def outcome(self) -> Outcome:
        """What it came to.

        Raises:
            StalledError: some requests never end.
        """
        if len(self.finished) < len(self._requests):
            raise StalledError(len(self.finished), len(self._requests))
        times = [
            RequestTimes(
                seq.request.arrival_ns,
                seq.request.prompt_len,
                seq.request.output_len,
                self._queued_ns[seq.id],
                seq.first_token_ns,
                seq.finished_ns,
            )
            for seq in sorted(self.finished, key=lambda seq: seq.id)
        ]
        return Outcome(tuple(times), tuple(self.time_line))


def requests_of(run: MeasuredRun) -> list[Request]:
    """The requests of a run, in order of arrival; their prompts have nothing in common."""
    requests = []
    for i, each in enumerate(sorted(run.measured.requests, key=lambda each: each.arrival_ns)):
        prompt = None
        if run.settings.prefix_caching:
            prompt = Prompt(BlockTokens((), run.settings.block_size, each.prompt_len, i))
        requests.append(Request(i, each.arrival_ns, each.prompt_len, each.output_len, prompt=prompt))
    return requests


def predicting(run: MeasuredRun, cost: CostModel) -> Generator[tuple[int, int], None, Outcome]:
    """Reruns a run in pieces; yields how many requests have ended, and how many there are."""
    rerun = Rerun(run, cost)
    total = len(run.measured.requests)
    while not rerun.done:
        for _ in range(_STEPS_AT_ONCE):
            rerun.step()
            if rerun.done:
                break
        yield len(rerun.finished), total
    return rerun.outcome()


def predict(run: MeasuredRun, efficiency: Efficiency) -> Outcome:
    """What the simulator says of a run.

    Raises:
        StalledError: some requests never end.
        WeightsDoNotFitError, ConfigError: no engine can be built like this.
    """
    work = predicting(run, cost_model(run.settings, efficiency))
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def least_ns(run: MeasuredRun, outcome: Outcome) -> tuple[int, int]:
    """What no engine can go below on these GPUs: makespan, and mean TPOT, in ns.

    All arithmetic at the data sheet's peak, without the KV cache; and for each token of a request after its
    first one, one read of the weights that it is multiplied with.
    """
    deployment = run.settings.deployment
    model, gpu = deployment.model, deployment.gpu
    per_token = 2 * (model.active_params - model.num_embeddings * model.head_params)
    tokens = sum(each.prompt_len + each.output_len - 1 for each in outcome.requests)
    head = 2 * model.head_params * sum(each.output_len for each in outcome.requests)
    peak = gpu.peak_flops(deployment.weights_bits) * deployment.tp
    compute_ns = (tokens * per_token + head) * SECOND_NS // peak
    bits = per_token // 2 * deployment.weights_bits + model.head_params * 16
    weights_ns = bits // 8 // deployment.tp * SECOND_NS // gpu.bandwidth
    steps = max(each.output_len for each in outcome.requests)
    return max(compute_ns, steps * weights_ns), weights_ns
