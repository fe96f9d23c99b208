"""The queue is ordered, and requests retracted, as SGLang's own code did it."""

import ast
import re

import pytest

from pycore.prefix_cache.radix import RadixCache
from pycore.request import Request, Sequence
from pycore.scheduling.policies import VICTIM
from pycore.scheduling.queue_order import ADMISSION, Candidate, OrderRules
from pycore.scheduling.retraction import NewTokenRatio
from tests.pycore.golden_engines.cases import cases
from tests.pycore.golden_engines.tree import drawn, in_order

CASES = cases("P")
ORDERS = [case for case in CASES if not case.values[0] or "policy" in case.values[0]["input"]]
SETTINGS = {"policy", "cached", "queue", "priority_scheduling", "low_priority_values_first"}
SETTINGS |= {"in_batch_check", "in_batch_deprioritize"}
RATIOS = [case for case in CASES if case.values[0] and "reqs" in case.values[0]["input"]]


def queue_of(given: dict) -> list[dict]:
    """The waiting requests. A long queue is written as its size and its first two requests.

    The others go on in the same way, ten tokens each; the last one, `hot`, is the first cached prompt and a
    token more.
    """
    written = given["queue"]
    if isinstance(written, list):
        return written
    size, shown = re.fullmatch(r"(\d+) requests: (\[.*\])\.\.\.", written).groups()
    first = ast.literal_eval(shown)[0]
    number, token = int(first["rid"][1:]), first["toks"][0]
    queue = [
        {"rid": f"c{number + i}", "toks": list(range(token + 10 * i, token + 10 * i + 10))}
        for i in range(int(size) - 1)
    ]
    assert queue[:2] == ast.literal_eval(shown)
    return [*queue, {"rid": "hot", "toks": [*given["cached"][0], 1]}]


@pytest.mark.parametrize("case", ORDERS)
def test_the_queue_is_ordered_as_by_sglang(case):
    given, expected = case["input"], case["result"]
    assert given.keys() <= SETTINGS, given.keys() - SETTINGS
    cache = RadixCache()
    for prompt in given["cached"]:
        cache.insert(prompt, prompt)
    queue = queue_of(given)
    known = {"rid", "toks", "max_new", "prio", "entry", "extra_key"}
    sign = -1 if given.get("low_priority_values_first") else 1
    assert all(known.issuperset(each) for each in queue)
    candidates = [
        Candidate(
            each["toks"],
            each.get("max_new", 1),
            sign * each.get("prio", 0),
            each.get("entry", 0),
            namespace=each.get("extra_key"),
        )
        for each in queue
    ]
    check = given["in_batch_check"]
    rules = OrderRules(
        in_batch_check=check if check >= 0 else None,
        in_batch_shared=given["in_batch_deprioritize"],
        by_priority=given["priority_scheduling"],
    )
    name = given["policy"].replace("-", "_")
    if name == "fcfs" and given["priority_scheduling"]:
        name = "priority"
    order = ADMISSION[name](candidates, cache, rules)
    names = [queue[i]["rid"] for i in order.positions]
    assert sorted(order.positions) == list(range(len(queue)))
    whole = isinstance(given["queue"], list)
    assert (names if whole else names[: len(expected["order"])]) == expected["order"]
    matched = {each["rid"]: n for each, n in zip(queue, order.matched, strict=True)}
    assert expected["matched"] == {rid: matched[rid] for rid in expected["matched"]}
    assert drawn(cache, "lock", hits=True) == in_order(expected["tree"])


@pytest.mark.parametrize("case", RATIOS)
def test_retraction_and_its_ratio_are_those_of_sglang(case):
    given, expected = case["input"], case["result"]
    assert given.keys() <= {"reqs", "conservativeness"}, given.keys()
    requests, ratio = given["reqs"], NewTokenRatio(given.get("conservativeness", 1.0))
    assert (round(ratio.initial, 9), round(ratio.floor, 9)) == (expected["init"], expected["min"])
    assert round(ratio.decay, 9) == expected["decay"]
    step = 0
    for at, value in expected["ratio_at_step"]:
        while step < at:
            ratio.step()
            step += 1
        assert round(ratio.value, 6) == value
    ratio.retracted([each["out"] for each in requests], [each["max_new"] for each in requests])
    assert ratio.value == expected["after_retract"]
    running = []
    for i, each in enumerate(requests):
        seq = Sequence(Request(i, 0, each["inp"], each["max_new"]))
        seq.num_tokens += each["out"]
        running.append(seq)
    kept = []
    while running:
        kept.insert(0, VICTIM["fewest_outputs"](running).id)
        running.remove(next(seq for seq in running if seq.id == kept[0]))
    assert kept == expected["keep_order"]
    assert kept[-1] == expected["first_retracted"]
