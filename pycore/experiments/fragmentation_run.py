"""One setup of the fragmentation experiment, run over a load and accounted for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.engine import Engine
from pycore.events import EventLog
from pycore.experiments.experiment import Setting
from pycore.experiments.keys import Keys
from pycore.experiments.result import percent
from pycore.memory.waste import Waste, account
from pycore.metrics import MemoryTally, MemoryUse, blocked_by_fragmentation
from pycore.workload.synthetic import Load

KEYS = Keys("fragmentation")
STEP_NS = 50_000_000
STEPS_AT_ONCE = 64
PARTS = ("real", "reserved", "internal", "external", "usable")


@dataclass(frozen=True, slots=True)
class Setup:
    """One way to manage the pool.

    Attributes:
        name: of its text key and its figures.
        mode, reservation, placement: see MemoryConfig.
    """

    name: str
    mode: str
    reservation: str = "max"
    placement: str = "first_fit"

    @property
    def key(self) -> str:
        """Text key of its name."""
        return KEYS.of(f"setup.{self.name}")


SETUPS = (
    Setup("paged", "paged"),
    *(
        Setup(f"{reservation}_{placement}", "contiguous", reservation, placement)
        for placement in ("first_fit", "buddy")
        for reservation in ("max", "pow2", "oracle")
    ),
)


class SetupRun:
    """One setup run over the load; slots are counted after step 1 and every `sample_every` steps later."""

    def __init__(self, setup: Setup, load: Load, settings: Mapping[str, Setting]) -> None:
        memory = MemoryConfig(
            setup.mode,
            settings["num_blocks"],
            settings["block_size"],
            reservation=setup.reservation,
            placement=setup.placement,
        )
        config = EngineConfig(memory, max_len=load.max_len, step_ns=STEP_NS)
        self.setup = setup
        self.accounts_off = 0
        self._engine = build_engine(config, load.requests, EventLog())
        self._steps = settings["steps"]
        self._sample_every = settings["sample_every"]
        self._samples_with_queue = 0
        self._real_with_queue = 0
        self._blocked: set[int] = set()
        self.use: MemoryUse | None = None

    def measure(self) -> Iterator[int]:
        """Steps to the end of the load or of the steps; yields now and then how many there were."""
        engine = self._engine
        tally = MemoryTally()
        while engine.num_steps < self._steps and not engine.done:
            engine.step()
            self._blocked.update(blocked_by_fragmentation(engine.log.drain()))
            if (engine.num_steps - 1) % self._sample_every == 0:
                tally.add(self._account(engine), len(engine.scheduler.running))
            if engine.num_steps % STEPS_AT_ONCE == 0:
                yield engine.num_steps
        self.use = tally.use()
        yield self._steps

    def _account(self, engine: Engine) -> Waste:
        memory = engine.allocator.memory_map()
        waste = account(memory, engine.scheduler.demand)
        parts = [getattr(waste, part) for part in PARTS]
        # Held slots are counted a second time, from the holdings: no block is shared here.
        adds_up = (
            sum(parts) == engine.allocator.capacity and waste.used == sum(memory.held) and min(parts) >= 0
        )
        self.accounts_off += not adds_up
        if engine.scheduler.waiting:
            self._samples_with_queue += 1
            self._real_with_queue += waste.real
        return waste

    @property
    def utilisation(self) -> float:
        """Mean share of the pool with real tokens, in percent."""
        return percent(self.use.utilisation)

    @property
    def blocked(self) -> int:
        """Requests that waited although enough slots were free in all."""
        return len(self._blocked)

    def memory_row(self) -> tuple:
        """Shares of the pool in percent, then residents."""
        samples, real = self._samples_with_queue, self._real_with_queue
        use = self.use
        return (
            self.setup.key,
            *(percent(use.mean_share(getattr(use, part))) for part in PARTS),
            percent(use.real_of_held),
            percent(real / (samples * use.capacity)) if samples else None,
            round(use.mean_residents, 1),
            use.peak_residents,
        )

    def request_row(self) -> tuple:
        """What became of the requests."""
        scheduler = self._engine.scheduler
        return (
            self.setup.key,
            scheduler.num_finished,
            scheduler.num_preemptions,
            self.blocked,
            self._engine.num_steps,
        )
