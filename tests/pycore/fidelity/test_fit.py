"""Factors from a run: those that it was made with, and those that are carried along."""

from dataclasses import replace

import pytest

from pycore.fidelity.factors import BY_GPU, RUNS
from pycore.fidelity.fit import fit
from pycore.fidelity.measured_run import Outcome
from pycore.fidelity.prediction import UNFITTED, predict


@pytest.mark.parametrize("fitted", BY_GPU.values(), ids=BY_GPU)
def test_the_factors_carried_along_are_what_their_run_gives(fitted):
    assert fit(RUNS[fitted.run]()) == fitted.efficiency


@pytest.mark.parametrize(("mfu", "mbu"), [(600, 800), (880, 640)])
def test_factors_that_a_run_was_made_with_are_found_again(mfu, mbu):
    run = RUNS["RTXPRO6000_Qwen3-32B"]()
    run = replace(run, measured=Outcome(run.measured.requests[:60]))
    made = replace(UNFITTED, mfu=mfu, mbu=mbu)
    found = fit(replace(run, measured=predict(run, made)))
    assert abs(found.mfu - mfu) <= 3
    assert abs(found.mbu - mbu) <= 3
