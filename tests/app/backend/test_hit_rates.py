"""A dropped trace that says what its prompts share: its replay comes with hit rates, and can use a cache."""

import json

import pytest

from app.backend.handle import Handler
from app.backend.texts import catalogue

ROWS = [
    {"timestamp": i * 10, "input_length": 1124, "output_length": 2, "hash_ids": [first, first + 1, first + 2]}
    for i, first in enumerate((0, 3, 0, 6) * 10)
]
LENGTHS = "prompt,output\n" + "9,2\n" * 20


def answered(data, **settings):
    handler = Handler()
    response = handler.handle({"kind": "replay", "name": "t", "data": data, "settings": settings})
    while "more" in response:
        response = handler.handle({"kind": "continue", "job": response["more"]})
    assert response["error"] is None
    return response


@pytest.fixture(scope="module")
def dropped():
    return "\n".join(map(json.dumps, ROWS))


def test_hit_rates_come_with_a_table_and_a_chart_of_texts_that_exist(dropped):
    hits = answered(dropped)["sources"]["hit_rates"]
    assert {point["policy"] for point in hits["points"]} == {"lru", "optimal"}
    assert hits["ceiling"]["hit_rate"] == 1.0
    (chart,), (table,) = hits["charts"], hits["tables"]
    keys = [chart["key"], table["key"], *(each["key"] for each in chart["series"] + table["columns"])]
    assert all(key in catalogue("en") for key in keys)
    assert all(len(each["values"]) == len(chart["x"]) == len(table["rows"]) for each in chart["series"])
    assert json.loads(json.dumps(hits, allow_nan=False)) == hits


def test_a_trace_of_lengths_has_none():
    sources = answered(LENGTHS)["sources"]
    assert "hit_rates" not in sources
    assert "prefix" not in sources["replay"]


@pytest.mark.parametrize("cache", ["hash", "radix"])
def test_an_engine_with_a_cache_tells_what_it_found(dropped, cache):
    prefix = answered(dropped, cache=cache)["sources"]["replay"]["prefix"]
    assert prefix["requests"] == len(ROWS)
    assert prefix["queries"] == 1124 * len(ROWS)
    assert 0.8 < prefix["hit_rate"] == prefix["hits"] / prefix["queries"]


def test_contiguous_memory_has_no_cache(dropped):
    assert "prefix" not in answered(dropped, cache="hash", mode="contiguous")["sources"]["replay"]


def test_prompts_larger_than_the_pool_are_rejected_and_counted(dropped):
    result = answered(dropped, cache="hash", blocks=8)["sources"]["replay"]
    assert result["rejected"] == {"pool": len(ROWS)}
