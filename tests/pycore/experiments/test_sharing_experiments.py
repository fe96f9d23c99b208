"""The experiments on sharing, beyond what their claims say."""

import subprocess
import sys
from pathlib import Path

import pytest

from pycore.experiments import EXPERIMENTS
from pycore.experiments.experiment import SettingError
from tests.pycore.experiments.reports import report

ROOT = Path(__file__).resolve().parents[3]


def test_declaring_the_experiments_does_not_load_numpy():
    script = "import sys, pycore.experiments; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == 0


def test_those_that_compute_attention_say_that_they_need_numpy():
    needy = {name for name, experiment in EXPERIMENTS.items() if experiment.needs == ("numpy",)}
    assert needy == {"beam_search", "paged_attention", "refcount_bug"}
    assert all(EXPERIMENTS[name].missing() == [] for name in needy)


@pytest.mark.parametrize(
    ("name", "param", "value", "expected"),
    [
        ("parallel_sampling", "samples", 0, "2..16"),
        ("parallel_sampling", "samples", 17, "2..16"),
        ("parallel_sampling", "prompt", 0, "1..4096"),
        ("beam_search", "width", 0, "2..8"),
        ("beam_search", "width", 9, "2..8"),
        ("beam_search", "prompt", 0, "1..256"),
        ("paged_attention", "request", 6, "0..5"),
        ("paged_attention", "order", "sorted", "ascending, shuffled"),
    ],
)
def test_settings_out_of_range_are_refused_with_what_was_expected(name, param, value, expected):
    with pytest.raises(SettingError) as caught:
        EXPERIMENTS[name].run({param: value})
    assert (caught.value.param, caught.value.expected) == (param, expected)


def test_t3_stands_in_the_table_of_parallel_sampling():
    (row,) = (
        row for row in report("parallel_sampling", "published_setting")["tables"][0]["rows"] if row[0] == 4
    )
    assert row[1:6] == [52, 31, 40.4, 45.6, 3]


def test_t5_a_thousand_token_prompt_is_held_once():
    figures = report("parallel_sampling", "thousand_tokens")["figures"]
    assert (figures["prompt_blocks"], figures["prompt_blocks_unshared"]) == (1000, 4000)


@pytest.fixture(scope="module")
def tree() -> dict:
    return report("beam_search", "published_setting")["pictures"]["tree"]


def test_every_beam_of_the_tree_goes_on_from_one_of_the_step_before(tree):
    assert tree["parent"][0] == -1
    for step, parent in zip(tree["step"][1:], tree["parent"][1:], strict=True):
        assert tree["step"][parent] == step - 1
    assert [tree["step"].count(step) for step in range(31)] == [1] + [4] * 30


def test_a_beam_scores_no_more_than_its_parent(tree):
    pairs = zip(tree["parent"][1:], tree["score"][1:], strict=True)
    assert all(score <= tree["score"][parent] for parent, score in pairs)


def test_the_blocks_of_the_tree_are_those_in_use(tree):
    pool = report("beam_search", "published_setting")["pictures"]["pool"]
    for step, (used, unshared) in enumerate(zip(pool["used"], pool["unshared"], strict=True), start=1):
        tables = [blocks for at, blocks in zip(tree["step"], tree["blocks"], strict=True) if at == step]
        assert len({block for table in tables for block in table}) == used
        assert sum(map(len, tables)) == unshared


def test_the_trace_covers_every_token_of_the_followed_request():
    found = report("paged_attention", "blocks_of_4")
    trace = found["pictures"]["trace"]
    assert (
        sum(map(len, trace["scores"])) == len(trace["weights"]) == found["figures"]["length"] == 33 + 12 - 2
    )
    assert trace["first"] == list(range(0, 43, 4))
    assert trace["maximum"] == sorted(trace["maximum"])
    assert len(set(trace["block"])) == len(trace["block"]) == 11


def test_with_the_guard_off_the_audit_counts_tables_and_references():
    figures = report("refcount_bug", "guard_off")["figures"]
    assert (figures["block"], figures["tables"], figures["count"]) == (0, 2, 0)
    assert (figures["holders"], figures["count_later"]) == ("prefix, r1, r2", 1)


def test_tokens_computed_before_the_theft_are_right():
    rows = report("refcount_bug", "guard_off")["tables"][0]["rows"]
    assert all(right == seen and off == 0 for _, right, seen, off in rows[:4])


@pytest.mark.parametrize(("preset", "copied"), [("page", True), ("whole_blocks", False)])
def test_the_prefixs_last_block_is_copied_only_if_it_is_not_full(preset, copied):
    figures = report("shared_prefix", preset)["figures"]
    assert (figures["prefix_copies"] > 0) == copied
