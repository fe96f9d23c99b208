"""The runs that are carried along are the published ones, to the millisecond."""

import pytest

from pycore.fidelity.factors import RUNS, factors_for, is_same_run
from pycore.fidelity.run_files import read_run
from pycore.fidelity.transcript import MS
from tests.pycore.fidelity.run_folder import folder_files
from tests.shared import shared


def in_ms(ns: int) -> int:
    return (ns + MS // 2) // MS


@pytest.mark.parametrize("name", RUNS)
def test_a_transcript_is_its_file(name):
    published = read_run(name, folder_files(shared(f"traces/measured_vllm/{name}")))
    carried = RUNS[name]()
    assert carried.settings == published.settings
    assert carried.measured.time_line == published.measured.time_line
    fields = ("arrival_ns", "queued_ns", "first_token_ns", "last_token_ns")
    for ours, theirs in zip(carried.measured.requests, published.measured.requests, strict=True):
        assert (ours.prompt_len, ours.output_len) == (theirs.prompt_len, theirs.output_len)
        assert [getattr(ours, each) // MS for each in fields] == [
            in_ms(getattr(theirs, each)) for each in fields
        ]
    assert is_same_run(published, carried)
    assert factors_for(published).run != name


@pytest.mark.parametrize(
    ("name", "ttft", "tpot", "end_to_end"),
    [("RTX4090_Llama-3.1-8B", 65456.6, 32.4, 86578.3), ("RTXPRO6000_Qwen3-32B", 36905.2, 80.3, 90408.1)],
)
def test_means_are_those_that_were_published_with_the_run(name, ttft, tpot, end_to_end):
    """bench/examples/*/validation/summary.txt."""
    spreads = RUNS[name]().measured.spreads()
    assert spreads["ttft"].mean / MS == pytest.approx(ttft, abs=1)
    assert spreads["tpot"].mean / MS == pytest.approx(tpot, abs=0.06)
    assert spreads["end_to_end"].mean / MS == pytest.approx(end_to_end, abs=1)
