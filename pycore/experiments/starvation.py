"""Longest prefix first lets a request wait that shares nothing, as long as others that share keep coming."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import HIT_RATE, LONGEST_WAIT, ORDER, Keys, order_key
from pycore.experiments.prefix_run import REQUESTS_AT_ONCE, PrefixServer, Served
from pycore.experiments.result import STEPS, TOKENS, Chart, Result, Table, percent
from pycore.rng import Rng
from pycore.scheduling.queue_order import PLAIN, OrderRules
from pycore.workload.common_prompt import common_prompt
from pycore.workload.few_shot import Exchange

_KEYS = Keys("starvation")

ORDERS = ("fcfs", "lpm", "ageing", "capped_wait")
AGEING = (0, 2, 4, 8, 16, 32)  # tokens a step, in the chart
SYSTEM, SHARED, OWN, ANSWER = 50, 250, (20, 40), (10, 30)
BACKLOG = 12  # requests that are there at once
COLD = -1  # task of a request that shares nothing


def arrivals(seed: int, tasks: int, steps: int, every: int) -> list[list[Exchange]]:
    """Requests by the step in which they come.

    Some are there at once and one more comes each step, of a random task: all share 50 tokens, and those of a
    task 250 more. Every so many steps one comes that shares nothing.
    """
    kind = Rng(seed).fork("tasks")
    num = steps + BACKLOG
    system = common_prompt(seed + 70, 1, SYSTEM, (0, 0), ANSWER)[0].prompt
    asked = [iter(common_prompt(seed + 100 * task, num, SHARED, OWN, ANSWER)) for task in range(tasks)]
    lens = (SYSTEM + SHARED + OWN[0], SYSTEM + SHARED + OWN[1])
    cold = iter(common_prompt(seed + 50, steps // every + 1, 0, lens, ANSWER))
    coming = []
    for step in range(steps):
        now = []
        for _ in range(1 if step else BACKLOG):
            each = next(asked[task := kind.randrange(tasks)])
            now.append(Exchange(task, system + each.prompt, each.output))
        if step % every == every // 2:
            now.append(replace(next(cold), task=COLD))
        coming.append(now)
    return coming


def serve_stream(
    coming: Sequence[Sequence[Exchange]], order: str, capacity: int, rules: OrderRules
) -> Generator[int, None, Served]:
    """Serves one request a step until nobody is left; yields how many were served so far."""
    longest = max(each.total_len for now in coming for each in now)
    server = PrefixServer(order, capacity, longest, rules)
    step = 0
    while step < len(coming) or server.num_waiting:
        for each in coming[step] if step < len(coming) else ():
            server.submit(each, step)
        server.serve(step)
        step += 1
        if step % REQUESTS_AT_ONCE == 0:
            yield step
    yield step
    return server.served()


def longest_wait(run: Served, cold: bool) -> int:
    """Of the requests that share nothing, or of the others, in steps."""
    return max(wait for task, wait in zip(run.tasks, run.waits, strict=True) if (task == COLD) == cold)


def measure(settings: Mapping[str, Setting]) -> Work:
    """Serves the stream in every order, then with more and less ageing.

    Progress counts requests served.
    """
    coming = arrivals(settings["seed"], settings["tasks"], settings["steps"], settings["every"])
    rules = replace(PLAIN, ageing=settings["ageing"], longest_wait=settings["longest_wait"])
    runs = [(order, rules) for order in ORDERS]
    runs += [("ageing", replace(rules, ageing=each)) for each in AGEING]
    num = sum(map(len, coming))
    found: list[Served] = []
    for i, (order, each) in enumerate(runs):
        work = serve_stream(coming, order, settings["capacity"], each)
        while len(found) == i:
            try:
                yield i * num + next(work), len(runs) * num
            except StopIteration as end:
                found.append(end.value)
    served, aged = dict(zip(ORDERS, found, strict=False)), found[len(ORDERS) :]
    figures = {
        "requests": num,
        "steps": settings["steps"],
        "cold": sum(task == COLD for task in found[0].tasks),
        "capacity": settings["capacity"],
        "cap": settings["longest_wait"],
        "ageing": settings["ageing"],
    }
    for order, run in served.items():
        figures[f"hit_{order}"] = percent(run.hit_rate)
        figures[f"cold_{order}"] = longest_wait(run, cold=True)
        figures[f"wait_{order}"] = max(run.waits)
    return Result(settings, figures, (_table(served),), _charts(served, aged))


def _table(served: Mapping[str, Served]) -> Table:
    columns = (ORDER, HIT_RATE, _KEYS.column("cold", "int", STEPS), _KEYS.column("warm", "int", STEPS))
    rows = [
        (order_key(order), percent(run.hit_rate), longest_wait(run, True), longest_wait(run, False))
        for order, run in served.items()
    ]
    return _KEYS.table("orders", columns, rows)


def _charts(served: Mapping[str, Served], aged: Sequence[Served]) -> tuple[Chart, ...]:
    waits = {
        _KEYS.of("column.cold"): [longest_wait(run, True) for run in served.values()],
        _KEYS.of("column.warm"): [longest_wait(run, False) for run in served.values()],
    }
    ageing = _KEYS.column("ageing", "int", TOKENS)
    over = {
        _KEYS.of("column.cold"): [longest_wait(run, True) for run in aged],
        _KEYS.of("column.warm"): [longest_wait(run, False) for run in aged],
    }
    hits = [percent(run.hit_rate) for run in aged]
    return (
        _KEYS.chart("wait", "bar", ORDER, tuple(map(order_key, served)), LONGEST_WAIT, waits),
        _KEYS.chart("ageing_wait", "line", ageing, AGEING, LONGEST_WAIT, over),
        _KEYS.chart("ageing_hit", "line", ageing, AGEING, HIT_RATE, hits),
    )


def _cold_starve(result: Result) -> bool:
    figures = result.figures
    return figures["cold_lpm"] > figures["steps"] / 2 and figures["cold_lpm"] > 3 * figures["cold_fcfs"]


def _cap_bounds_the_wait(result: Result) -> bool:
    figures = result.figures
    return (
        figures["cold_capped_wait"] < figures["cold_lpm"] / 2
        and figures["hit_capped_wait"] > figures["hit_fcfs"]
    )


def _ageing_bounds_the_wait(result: Result) -> bool:
    figures = result.figures
    return figures["cold_ageing"] < figures["cold_lpm"] / 2 and figures["hit_ageing"] > figures["hit_fcfs"]


def _fairness_costs_hits(result: Result) -> bool:
    figures = result.figures
    return figures["hit_lpm"] >= max(figures["hit_ageing"], figures["hit_capped_wait"])


STARVATION = Experiment(
    name="starvation",
    subject="caching",
    params=(
        Param("capacity", "int", 400, 100, 10_000, unit=TOKENS),
        Param("ageing", "int", 8, 0, 1000, unit=TOKENS),
        Param("longest_wait", "int", 40, 1, 1000, unit=STEPS),
        Param("tasks", "int", 2, 1, 8),
        Param("every", "int", 20, 2, 100, unit=STEPS),
        Param("steps", "int", 160, 20, 300, unit=STEPS),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("two_tasks", {}),
        Preset("other_seed", {"seed": 1}),
        Preset("three_tasks", {"tasks": 3}),
    ),
    claims=(
        Claim("cold_starve", "lecture_radix_7_3", _cold_starve),
        Claim("ageing_bounds_the_wait", "lecture_radix_exercise_9", _ageing_bounds_the_wait),
        Claim("cap_bounds_the_wait", "lecture_radix_exercise_9", _cap_bounds_the_wait),
        Claim("fairness_costs_hits", "lecture_radix_exercise_9", _fairness_costs_hits),
    ),
    measure=measure,
)
