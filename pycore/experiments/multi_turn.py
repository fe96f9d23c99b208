"""Chats of several turns over one prefix cache: whose history is still there when the next question comes."""

from collections.abc import Generator, Mapping, Sequence
from heapq import heappop, heappush

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import CAPACITY, COMPUTED, HIT_RATE, LONGEST_WAIT, ORDER, Keys, order_key
from pycore.experiments.prefix_run import REQUESTS_AT_ONCE, PrefixServer, Served
from pycore.experiments.result import PERCENT, STEPS, TOKENS, Chart, Result, Table, percent
from pycore.workload.multi_turn import SYSTEM, Session, multi_turn

_KEYS = Keys("multi_turn")

ORDERS = ("fcfs", "lpm", "ageing", "capped_wait")
# Over these capacities the chart shows how two of the orders fare.
SWEEP = (1000, 4000, 8000, 16_000, 40_000)
SWEPT = ("fcfs", "lpm")


def serve_sessions(
    sessions: Sequence[Session], order: str, capacity: int, gap: int
) -> Generator[int, None, Served]:
    """Serves chats one request a step; a session's next turn comes some steps after the last was served.

    Args:
        sessions: their numbers are their positions.
        order: one of ADMISSION.
        capacity: tokens that the cache holds between two steps.
        gap: steps from the start of a session to that of the next.

    Yields:
        Requests served so far.

    Returns:
        What came of it; `tasks` are the sessions.
    """
    server = PrefixServer(order, capacity, max(each.turns[-1].total_len for each in sessions))
    coming = [(number * gap, number) for number in range(len(sessions))]  # a heap: (step, session)
    next_turn = [0] * len(sessions)
    left = sum(len(each.turns) for each in sessions)
    served = step = 0
    while served < left:
        while coming and coming[0][0] <= step:
            _, number = heappop(coming)
            server.submit(sessions[number].turns[next_turn[number]], step)
        if server.num_waiting:
            session = sessions[number := server.serve(step).task]
            if next_turn[number] < len(session.pauses):
                heappush(coming, (step + 1 + session.pauses[next_turn[number]], number))
                next_turn[number] += 1
            served += 1
            if served % REQUESTS_AT_ONCE == 0 or served == left:
                yield served
        step += 1
    return server.served()


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves the chats in every order at the capacity asked for, then in two over all capacities.

    Progress counts requests served.
    """
    sessions = multi_turn(settings["seed"], settings["sessions"], settings["turns"])
    runs = [(order, settings["capacity"]) for order in ORDERS]
    runs += [(order, each) for each in SWEEP for order in SWEPT if (order, each) not in runs]
    num = settings["sessions"] * settings["turns"]
    found: dict[tuple[str, int], Served] = {}
    for i, (order, capacity) in enumerate(runs):
        work = serve_sessions(sessions, order, capacity, settings["gap"])
        while (order, capacity) not in found:
            try:
                yield i * num + next(work), len(runs) * num
            except StopIteration as end:
                found[order, capacity] = end.value
    served = {order: found[order, settings["capacity"]] for order in ORDERS}
    gains = [percent(found["lpm", each].hit_rate - found["fcfs", each].hit_rate) for each in SWEEP]
    best = max(range(len(SWEEP)), key=gains.__getitem__)
    figures = {
        "sessions": settings["sessions"],
        "turns": settings["turns"],
        "capacity": settings["capacity"],
        "system": SYSTEM,
        "own": own_history(served["lpm"]),
        "found": served["lpm"].hit_tokens,
        "own_share": percent(own_history(served["lpm"]) / max(1, served["lpm"].hit_tokens)),
        "best_capacity": SWEEP[best],
        "best_gain": gains[best],
        "small": SWEEP[0],
        "small_gain": gains[0],
        "large": SWEEP[-1],
        "large_gain": gains[-1],
        "best_fcfs": percent(found["fcfs", SWEEP[best]].hit_rate),
        "best_lpm": percent(found["lpm", SWEEP[best]].hit_rate),
        "first_wait_fcfs": longest_first_wait(found["fcfs", SWEEP[best]]),
        "first_wait_lpm": longest_first_wait(found["lpm", SWEEP[best]]),
    }
    return Result(settings, figures, (_table(served),), _charts(served, found))


def own_history(run: Served) -> int:
    """Tokens found beyond the system prompt: only the session itself can have left them."""
    return sum(max(0, hit - SYSTEM) for hit in run.hit_lens)


def longest_first_wait(run: Served) -> int:
    """The longest that a session waited for its first answer, in steps."""
    first: dict[int, int] = {}
    for session, wait in zip(run.tasks, run.waits, strict=True):
        first.setdefault(session, wait)
    return max(first.values())


def _table(served: Mapping[str, Served]) -> Table:
    columns = (
        ORDER,
        HIT_RATE,
        _KEYS.column("own", "int", TOKENS),
        _KEYS.column("system", "int", TOKENS),
        COMPUTED,
        LONGEST_WAIT,
        _KEYS.column("first_wait", "int", STEPS),
    )
    rows = []
    for order, run in served.items():
        own = own_history(run)
        tokens = (own, run.hit_tokens - own, run.computed)
        waits = (max(run.waits), longest_first_wait(run))
        rows.append((order_key(order), percent(run.hit_rate), *tokens, *waits))
    return _KEYS.table("orders", columns, rows)


def _charts(served: Mapping[str, Served], swept: Mapping[tuple[str, int], Served]) -> tuple[Chart, ...]:
    over = {order_key(order): [percent(swept[order, each].hit_rate) for each in SWEEP] for order in SWEPT}
    shares = {_KEYS.of("column.own"): [], _KEYS.of("column.system"): [], COMPUTED.key: []}
    for run in served.values():
        own = own_history(run)
        for values, tokens in zip(shares.values(), (own, run.hit_tokens - own, run.computed), strict=True):
            values.append(percent(tokens / run.prompt_tokens))
    names = tuple(map(order_key, served))
    return (
        _KEYS.chart("capacity", "line", CAPACITY, SWEEP, HIT_RATE, over),
        _KEYS.chart("tokens", "stacked_bar", ORDER, names, _KEYS.column("tokens", "float", PERCENT), shares),
    )


def _own_history(result: Result) -> bool:
    return result.figures["own_share"] > 50


def _middle_capacity(result: Result) -> bool:
    figures = result.figures
    return figures["best_gain"] > 10 and (
        max(figures["small_gain"], figures["large_gain"]) < figures["best_gain"] / 4
    )


def _new_sessions_wait(result: Result) -> bool:
    return result.figures["first_wait_lpm"] > result.figures["first_wait_fcfs"]


MULTI_TURN = Experiment(
    name="multi_turn",
    subject="caching",
    params=(
        Param("capacity", "int", 16_000, 500, 100_000, unit=TOKENS),
        Param("seed", "int", 5, 0, 9999),
        Param("sessions", "int", 60, 2, 100),
        Param("turns", "int", 5, 2, 8),
        Param("gap", "int", 0, 0, 50, unit=STEPS),
    ),
    presets=(
        Preset("middle", {}),
        Preset("one_after_another", {"gap": 3}),
        Preset("seed_1", {"seed": 1, "capacity": 8000}),
    ),
    claims=(
        Claim("own_history", "lecture_radix_7_3", _own_history),
        Claim("middle_capacity", "lecture_radix_7_3", _middle_capacity),
        Claim("new_sessions_wait", "lecture_radix_7_3", _new_sessions_wait),
    ),
    measure=measure,
)
