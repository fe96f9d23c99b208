"""Memory that does not come back after the last answer: cached and evictable, or really lost."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import STEP, Keys
from pycore.experiments.result import TOKENS, Chart, Result, Table
from pycore.prefix_cache.radix import RadixCache
from pycore.workload.few_shot import Exchange
from pycore.workload.multi_turn import multi_turn

_KEYS = Keys("evictable_is_no_leak")

SESSIONS, TURNS = 12, 3
LIFE = 6  # steps that an answer takes
IDLE = 10  # steps after the last answer
EVERY = 3  # steps from one position of the chart to the next
ACCOUNT = ("free", "evictable", "protected", "own")


@dataclass(slots=True)
class Running:
    """A request that is being answered.

    Attributes:
        request: it.
        number: from 1, in the order in which they were started.
        node: where its cached prefix ends, which it has locked.
        own: slots that only it has.
        until: the step in which it is done.
    """

    request: Exchange
    number: int
    node: object
    own: int
    until: int


class SharedPool:
    """Token slots that running requests and a radix tree share, as in SGLang.

    Attributes:
        capacity: slots in all.
        free: slots that hold nothing.
        cache: the tree.
        running: requests that are being answered.
        num_served: requests that were started.
    """

    def __init__(self, capacity: int, forget: int) -> None:
        """An empty pool.

        Args:
            capacity: slots.
            forget: after how many requests one forgets to unlock its prefix; 0: none does.
        """
        self.capacity = self.free = capacity
        self.cache = RadixCache()
        self.running: list[Running] = []
        self.num_served = 0
        self._forget = forget

    @property
    def own(self) -> int:
        """Slots of running requests that are not in the tree yet."""
        return sum(each.own for each in self.running)

    def account(self) -> dict[str, int]:
        """Where the slots are, by the names of ACCOUNT."""
        return dict(
            zip(ACCOUNT, (self.free, self.cache.evictable, self.cache.protected, self.own), strict=True)
        )

    def start(self, request: Exchange, step: int) -> bool:
        """Lets a request run if there is room, after evicting what it takes; says whether it does."""
        found = self.cache.match(request.prompt[:-1])
        self.cache.lock(found.node)
        own = request.total_len - 1 - found.num_tokens
        if own > self.free + self.cache.evictable:
            self.cache.unlock(found.node)
            return False
        self.evict(own - self.free)
        self.free -= own
        self.num_served += 1
        self.running.append(Running(request, self.num_served, found.node, own, step + LIFE))
        return True

    def finish(self, each: Running) -> None:
        """Puts what a request computed into the tree; what the tree has already is free again."""
        self.running.remove(each)
        tokens = each.request.prompt + each.request.output[:-1]
        before = self.cache.total
        self.cache.insert(tokens, array("q", bytes(8 * len(tokens))))
        self.free += each.own - (self.cache.total - before)
        if not self._forget or each.number % self._forget:
            self.cache.unlock(each.node)

    def evict(self, num_tokens: int) -> None:
        """Frees at least so many cached slots, if there are."""
        before = self.cache.total
        self.cache.evict(num_tokens)
        self.free += before - self.cache.total


def serve(pool: SharedPool, waiting: Sequence[Exchange]) -> list[dict[str, int]]:
    """Answers the requests, at most one started a step, and idles; the account after every step."""
    waiting, accounts, step, idle = list(waiting), [], 0, 0
    while idle < IDLE:
        for each in [each for each in pool.running if each.until == step]:
            pool.finish(each)
        started = bool(waiting) and pool.start(waiting[0], step)
        if started:
            waiting.pop(0)
        idle += not started and not pool.running  # nobody waits, or so much is lost that nobody fits
        accounts.append(pool.account())
        step += 1
    return accounts


def measure(settings: Mapping[str, Setting]) -> Work:
    """Answers chats in turn, looks at the idle pool, and evicts all that can be. Progress counts stages."""
    sessions = multi_turn(settings["seed"], SESSIONS, TURNS)
    load = [session.turns[turn] for turn in range(TURNS) for session in sessions]
    pool = SharedPool(settings["capacity"], settings["forget"])
    accounts = serve(pool, load)
    yield 1, 2
    idle = accounts[-1]
    pool.evict(pool.cache.evictable)
    flushed = pool.account()
    yield 2, 2
    figures = {
        "requests": pool.num_served,
        "capacity": pool.capacity,
        "steps": len(accounts),
        "forget": settings["forget"],
        "off": max(abs(sum(each.values()) - pool.capacity) for each in accounts),
        "missing": pool.capacity - idle["free"],
        "idle_free": idle["free"],
        "idle_evictable": idle["evictable"],
        "idle_protected": idle["protected"],
        "idle_own": idle["own"],
        "flushed_free": flushed["free"],
        "lost": pool.capacity - flushed["free"],
    }
    return Result(settings, figures, (_table(accounts, flushed),), (_chart(accounts),))


def _table(accounts: Sequence[Mapping[str, int]], flushed: Mapping[str, int]) -> Table:
    columns = (
        _KEYS.column("moment", "key"),
        *(_KEYS.column(name, "int", TOKENS) for name in ACCOUNT),
        _KEYS.column("total", "int", TOKENS),
    )
    busiest = max(accounts, key=lambda each: each["own"] + each["protected"])
    moments = {"busy": busiest, "idle": accounts[-1], "flushed": flushed}
    rows = [
        (_KEYS.of(f"moment.{name}"), *each.values(), sum(each.values())) for name, each in moments.items()
    ]
    return _KEYS.table("moments", columns, rows)


def _chart(accounts: Sequence[Mapping[str, int]]) -> Chart:
    values = {_KEYS.of(f"column.{name}"): [each[name] for each in accounts[::EVERY]] for name in ACCOUNT}
    steps = range(1, len(accounts) + 1, EVERY)
    return _KEYS.chart("steps", "line", STEP, steps, _KEYS.column("slots", "int", TOKENS), values)


def _adds_up(result: Result) -> bool:
    return result.figures["off"] == 0


def _looks_like_a_leak(result: Result) -> bool:
    figures = result.figures
    return figures["idle_own"] == 0 and figures["idle_evictable"] > figures["capacity"] / 4


def _comes_back(result: Result) -> bool:
    figures = result.figures
    return figures["flushed_free"] == figures["capacity"] - figures["idle_protected"]


def _a_leak_is_protected(result: Result) -> bool:
    figures = result.figures
    return (figures["idle_protected"] > 0) == (figures["forget"] > 0)


EVICTABLE_IS_NO_LEAK = Experiment(
    name="evictable_is_no_leak",
    subject="caching",
    params=(
        Param("capacity", "int", 4000, 1500, 50_000, unit=TOKENS),
        Param("forget", "int", 0, 0, 36),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("no_leak", {}),
        Preset("forgotten_lock", {"forget": 12}),
        Preset("other_seed", {"seed": 1, "capacity": 6000}),
    ),
    claims=(
        Claim("adds_up", "sglang_code", _adds_up),
        Claim("looks_like_a_leak", "users", _looks_like_a_leak),
        Claim("comes_back", "here", _comes_back),
        Claim("a_leak_is_protected", "here", _a_leak_is_protected),
    ),
    measure=measure,
)
