"""Traces that say what their prompts share: hash ids of blocks, or the token ids themselves."""

import json

import pytest

from pycore.workload.trace_file import read_trace, read_trace_path
from tests.shared import shared

MOONCAKE = {"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]}
BAILIAN = {
    "chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 40, "output_length": 132,
    "type": "text", "turn": 1, "hash_ids": [1089, 1090, 7],
}  # fmt: skip
FULL_BLOCKS = {"arrival_s": 0.5, "input_length": 40, "output_length": 9, "block_size": 16, "hash_ids": [3, 4]}
IDS = {"prompt_token_ids": [5, 6, 7], "output_length": 4, "arrival_s": 1}


def read(*rows, **more):
    return read_trace("\n".join(map(json.dumps, rows)), "t.jsonl", **more)


def only_problem(row, first=MOONCAKE):
    trace = read(first, row)
    (problem,) = trace.problems
    assert (problem.line, len(trace.requests)) == (2, 1)
    return problem.column, problem.value, problem.code, problem.expected


@pytest.mark.parametrize(
    ("row", "form", "unit", "num_ids", "num_known"),
    [
        (MOONCAKE, "mooncake", "ms", 3, 1100),
        (BAILIAN, "bailian", "s", 3, 40),
        ({**BAILIAN, "hash_ids": [1089, 1090]}, "bailian", "s", 2, 32),
        (FULL_BLOCKS, "hash_ids", "s", 2, 32),
    ],
)
def test_formats_are_known_by_their_keys(row, form, unit, num_ids, num_known):
    trace = read(row)
    tokens = trace.requests[0].prompt.tokens
    assert (trace.format, trace.unit, trace.has_prompts) == (form, unit, True)
    assert (len(tokens), len(tokens.ids), tokens.num_known) == (row["input_length"], num_ids, num_known)


@pytest.mark.parametrize("prompt", ["prompt_token_ids", "input_ids", "tokens", "prompt"])
@pytest.mark.parametrize(("output", "ids"), [("output_length", 2), ("output_token_ids", [8, 9])])
def test_token_ids_are_taken_as_they_are_and_lengths_follow_from_them(prompt, output, ids):
    trace = read({prompt: [5, 6, 7], output: ids})
    (request,) = trace.requests
    assert (trace.format, list(request.prompt.tokens)) == ("token_ids", [5, 6, 7])
    assert (request.prompt_len, request.output_len) == (3, 2)


def test_equal_ids_are_equal_tokens_and_ids_may_be_as_large_as_a_hash():
    one, other = read(MOONCAKE, {**MOONCAKE, "hash_ids": [0, 1, (1 << 64) - 1]}).requests
    assert one.prompt.tokens[:1024] == other.prompt.tokens[:1024]
    assert set(one.prompt.tokens[1024:]).isdisjoint(other.prompt.tokens[1024:])


def test_tokens_without_an_id_are_shared_with_nobody():
    one, other = read(FULL_BLOCKS, FULL_BLOCKS).requests
    assert list(one.prompt.tokens[:32]) == list(other.prompt.tokens[:32])
    assert set(one.prompt.tokens[32:]).isdisjoint(other.prompt.tokens[32:])


def test_unsorted_rows_keep_their_prompts():
    rows = [{**MOONCAKE, "timestamp": 9, "hash_ids": [7, 7, 7]}, {**MOONCAKE, "timestamp": 3}]
    requests = read(*rows).requests
    assert [list(each.prompt.tokens.ids) for each in requests] == [[1, 2, 3], [0, 0, 0]]


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        ([0, 1], ("hash_ids", "2", "wrong_ids", "3 = ⌈1100 / 512⌉")),
        ([0, 1, 2, 3], ("hash_ids", "4", "wrong_ids", "3 = ⌈1100 / 512⌉")),
        ([], ("hash_ids", "0", "wrong_ids", "3 = ⌈1100 / 512⌉")),
        ([0, -1, 2], ("hash_ids[1]", "-1", "bad_id", "0..18446744073709551615")),
        ([0, 1, True], ("hash_ids[2]", "true", "bad_id", "0..18446744073709551615")),
        ([0.0, 1, 2], ("hash_ids[0]", "0.0", "bad_id", "0..18446744073709551615")),
        ([0, "1", 2], ("hash_ids[1]", "1", "bad_id", "0..18446744073709551615")),
        ([0, None, 2], ("hash_ids[1]", "null", "bad_id", "0..18446744073709551615")),
        ([0, [1], 2], ("hash_ids[1]", "[1]", "bad_id", "0..18446744073709551615")),
        ([0, 1 << 64, 2], ("hash_ids[1]", str(1 << 64), "bad_id", "0..18446744073709551615")),
        ("0 1 2", ("hash_ids", "0 1 2", "not_a_list", "[0, 1, 2]")),
        (None, ("hash_ids", "null", "not_a_list", "[0, 1, 2]")),
        ({"0": 1}, ("hash_ids", '{"0": 1}', "not_a_list", "[0, 1, 2]")),
    ],
)
def test_hash_ids_that_will_not_do_are_named_with_place_value_and_expectation(ids, problem):
    assert only_problem({**MOONCAKE, "hash_ids": ids}) == problem


def test_a_row_without_the_ids_that_others_have_is_named():
    row = {key: value for key, value in MOONCAKE.items() if key != "hash_ids"}
    assert only_problem(row) == ("hash_ids", "", "missing_list", "[0, 1, 2]")


@pytest.mark.parametrize(
    ("size", "problem"),
    [
        (0, ("block_size", "0", "bad_block_size", "1..1048576")),
        (True, ("block_size", "true", "bad_block_size", "1..1048576")),
        ("16", ("block_size", "16", "bad_block_size", "1..1048576")),
        (None, ("block_size", "null", "bad_block_size", "1..1048576")),
        (8, ("block_size", "8", "bad_block_size", "16")),
    ],
)
def test_the_size_of_blocks_is_a_number_and_the_same_on_every_line(size, problem):
    assert only_problem({**FULL_BLOCKS, "block_size": size}, FULL_BLOCKS) == problem


def test_ids_of_full_blocks_only_are_counted_as_such():
    row = {**FULL_BLOCKS, "hash_ids": [1, 2, 3]}
    assert only_problem(row, FULL_BLOCKS) == ("hash_ids", "3", "wrong_ids", "2 = ⌊40 / 16⌋")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**IDS, "prompt_token_ids": [5, -6]}, ("prompt_token_ids[1]", "-6", "bad_id", "0..2147483647")),
        ({**IDS, "prompt_token_ids": [False]}, ("prompt_token_ids[0]", "false", "bad_id", "0..2147483647")),
        ({**IDS, "prompt_token_ids": []}, ("prompt_token_ids", "0", "not_positive", "1..10000000")),
        ({**IDS, "prompt_token_ids": 3}, ("prompt_token_ids", "3", "not_a_list", "[0, 1, 2]")),
    ],
)
def test_token_ids_that_will_not_do_are_named(row, problem):
    assert only_problem(row, IDS) == problem


def test_a_length_that_contradicts_the_token_ids_is_named():
    first = {**IDS, "input_length": 3}
    row = {**first, "input_length": 4}
    assert only_problem(row, first) == ("prompt_token_ids", "3", "wrong_length", "4")


def test_the_first_bad_row_can_be_an_error():
    with pytest.raises(ValueError, match="wrong_ids"):
        read(MOONCAKE, {**MOONCAKE, "hash_ids": [1]}, keep_good=False)


def test_all_prompts_of_a_real_trace_begin_with_the_same_block_and_repeat_none():
    requests = read_trace_path(shared("traces/mooncake_conversation.jsonl")).requests
    ids = [each.prompt.tokens.ids for each in requests]
    assert {each[0] for each in ids} == {0}
    assert all(len(set(each)) == len(each) for each in ids)
    assert sum(map(len, ids)) == 288_500
