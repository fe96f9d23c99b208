"""`kvscope replay --cache POLICY`: the golden figures, and one sentence for whatever cannot be measured."""

import csv
import io
import json

import pytest

from pycore.hit_rate.block_cache import BLOCK_CACHES
from tests.shared import shared


@pytest.fixture
def trace(tmp_path):
    """Three documents read in turn, 3 blocks of 512 tokens each, the last one with 100."""
    path = tmp_path / "turns.jsonl"
    rows = [
        {"timestamp": i, "input_length": 1124, "output_length": 2, "hash_ids": [first, first + 1, first + 2]}
        for i, first in enumerate((0, 3, 6) * 4)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def points(document):
    return {
        (point["policy"], point["capacity"]): point["hit_tokens"] for point in document["hit_rates"]["points"]
    }


def test_a_real_trace_gives_the_golden_hit_tokens(kvscope):
    golden = json.loads(shared("golden/prefix_hit_rates_mooncake_conversation.json").read_text())
    expected = {
        (policy, point["cacheBlocks"]): result["hitTokens"]
        for point in golden["points"]
        for policy, result in point["results"].items()
    }
    sizes = ",".join(str(point["cacheBlocks"]) for point in golden["points"])
    path = shared("traces/mooncake_conversation.jsonl")
    document = kvscope(
        "replay", path, "--cache", "lru,fifo,optimal", "--cache-blocks", sizes, "--json"
    ).document
    assert points(document) == expected
    assert document["hit_rates"]["ceiling"]["hit_tokens"] == golden["ceiling"]["hitTokens"]
    assert document["partial"] is False


def test_sizes_can_be_given_in_tokens_or_as_the_pool(kvscope, trace):
    by_blocks = kvscope("replay", trace, "--cache", "mru", "--cache-blocks", 6, "--json").document
    assert points(by_blocks) == {("mru", 6): points(by_blocks)["mru", 6]}
    for option in (("--cache-tokens", 6 * 512), ("--blocks", 6)):
        assert kvscope("replay", trace, "--cache", "mru", *option, "--json").document == by_blocks


def test_the_warm_up_is_a_share_of_the_requests(kvscope, trace):
    whole = kvscope("replay", trace, "--cache", "lru", "--cache-blocks", 9, "--warmup", 0, "--json").document
    half = kvscope("replay", trace, "--cache", "lru", "--cache-blocks", 9, "--json").document
    assert points(whole) == {("lru", 9): 9 * 1124}
    assert points(half) == {("lru", 9): 6 * 1124}
    assert half["hit_rates"]["num_warm_up"] == 6


def test_all_policies_are_shown_side_by_side_with_a_picture(kvscope, trace):
    out = kvscope("replay", trace, "--cache", "all", "--cache-blocks", "3,6,9").out
    for name in ("LRU", "FIFO", "LFU", "SLRU", "MRU", "FILO", "Optimal", "Unbounded"):
        assert name in out
    assert "█" in out
    document = kvscope("replay", trace, "--cache", "all", "--cache-blocks", "3,6,9", "--json").document
    assert len(points(document)) == 3 * len(BLOCK_CACHES)


def test_csv_has_a_row_for_each_policy_and_size(kvscope, trace):
    rows = list(csv.DictReader(io.StringIO(kvscope("replay", trace, "--cache", "lru,mru", "--csv").out)))
    assert {row["policy"] for row in rows} == {"lru", "mru", "ceiling"}
    assert all(0 <= float(row["hit_rate"]) <= 1 for row in rows)


def test_prompts_larger_than_the_cache_are_counted(kvscope, trace):
    assert "Prompts larger" in kvscope("replay", trace, "--cache", "lru", "--cache-blocks", 2).out
    document = kvscope("replay", trace, "--cache", "lru", "--cache-blocks", "2,3", "--json").document
    assert [point["num_larger"] for point in document["hit_rates"]["points"]] == [12, 0]


def test_options_of_the_other_way_are_remarked_on(kvscope, trace):
    assert "--max-batch has no effect" in kvscope("replay", trace, "--cache", "lru", "--max-seqs", 4).err
    assert "--warmup has no effect" in kvscope("replay", trace, "--warmup", 0.5).err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--cache", "clock"), "--cache is “clock”; expected none, hash, radix | lru, fifo"),
        (("--cache", "lru,radix"), "--cache is “radix”"),
        (("--cache", "lru", "--cache-blocks", "0"), "--cache-blocks is “0”; expected 1 … 10,000,000"),
        (("--cache", "lru", "--cache-blocks", "5,x"), "--cache-blocks is “x”"),
        (("--cache", "lru", "--cache-tokens", "-5"), "--cache-tokens is “-5”"),
        (("--cache", "lru", "--warmup", "1"), "--warmup is “1”; expected 0 … 0.99"),
        (("--cache", "lru", "--warmup", "nan"), "--warmup is “nan”"),
        (
            ("--cache", "lru", "--cache-blocks", "5", "--cache-tokens", "5"),
            "expected --cache-blocks or",
        ),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_sentence(kvscope, trace, options, sentence):
    result = kvscope("replay", trace, *options)
    assert result.code == 2
    assert sentence in result.err
    assert result.err.count("\n") == 1


def test_a_cache_smaller_than_a_block_of_the_trace_is_refused(kvscope, trace):
    result = kvscope("replay", trace, "--cache", "lru", "--cache-tokens", "1024,511")
    assert result.code == 2
    assert "--cache-tokens is “511”; expected 512 … 10,000,000,000." in result.err


def test_a_trace_of_lengths_has_no_hit_rates(kvscope, tmp_path):
    path = tmp_path / "lengths.csv"
    path.write_text("prompt,output\n5,5\n")
    result = kvscope("replay", path, "--cache", "lru")
    assert result.code == 2
    assert "does not say what its prompts share" in result.err
