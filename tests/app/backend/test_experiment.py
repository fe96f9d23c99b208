"""Experiments through the one door."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backend.experiment import declarations
from app.backend.handle import Handler
from app.backend.texts import LANGUAGES, text
from pycore.experiments import EXPERIMENTS


def answer(name, settings=None, handler=None) -> tuple[dict, list[dict]]:
    """The last response to a request for an experiment, and the progress on the way."""
    handler = handler or Handler()
    response = handler.handle({"kind": "experiment", "name": name, "settings": settings})
    seen = []
    while "more" in response:
        seen.append(response["progress"])
        response = handler.handle({"kind": "continue", "job": response["more"]})
    return response, seen


def test_the_response_is_what_the_experiment_itself_reports():
    settings = {"steps": 40, "placements": "first_fit"}
    report = answer("fragmentation", settings)[0]["sources"]["report"]
    experiment = EXPERIMENTS["fragmentation"]
    direct = experiment.report(experiment.run(settings))
    assert {key: report[key] for key in ("figures", "tables", "charts", "settings")} == {
        key: direct[key] for key in ("figures", "tables", "charts", "settings")
    }
    assert [claim["holds"] for claim in report["claims"]] == [claim["holds"] for claim in direct["claims"]]


def test_each_claim_has_its_sentence_with_the_measured_figures_in_every_language():
    report = answer("block_size", {"requests": 100})[0]["sources"]["report"]
    for claim in report["claims"]:
        for lang in LANGUAGES:
            assert claim[lang] == text(lang, claim["key"], **report["figures"])
    assert str(report["figures"]["waste_16"]) in report["claims"][0]["en"]


def test_a_long_run_comes_in_slices_whose_progress_rises(monkeypatch):
    monkeypatch.setattr("app.backend.jobs.SLICE_S", 0)
    response, seen = answer("external_fragmentation", {"requests": 2000})
    assert response["error"] is None
    assert len(seen) >= 10
    done = [each["done"] for each in seen]
    assert done == sorted(done)
    assert {each["total"] for each in seen} == {6000}


def test_a_run_can_be_stopped(monkeypatch):
    monkeypatch.setattr("app.backend.jobs.SLICE_S", 0)
    handler = Handler()
    job = handler.handle({"kind": "experiment", "name": "fragmentation"})["more"]
    assert handler.handle({"kind": "cancel", "job": job})["error"] is None
    assert handler.handle({"kind": "continue", "job": job})["error"] is not None


@pytest.mark.parametrize(
    ("settings", "english"),
    [
        ({"seed": "many"}, "Setting “Load seed” is “many”, expected 0 … 9,999."),
        ({"load": "<b>"}, "Setting “Load” is “<b>”, expected chat_burst, uniform, long_tail, sharegpt_1000."),
        ({"load": "sharegpt_1000"}, "Setting “Blocks in the pool” is “64”, expected 512 … 4,096."),
        ({"sede": 3}, "Setting “sede” is “3”, expected load, seed,"),
    ],
)
def test_a_setting_that_will_not_do_is_named_with_its_value_and_what_was_expected(settings, english):
    error = answer("fragmentation", settings)[0]["error"]
    assert error["en"].startswith(english)
    assert error["zh"] != error["en"]


@given(st.none() | st.text() | st.integers() | st.lists(st.integers()))
def test_an_unknown_name_is_answered_with_the_names_there_are(name):
    error = answer(name)[0]["error"]
    assert error["en"].startswith("There is no experiment")
    assert "fragmentation, external_fragmentation, block_size" in error["en"]


@given(st.none() | st.text() | st.lists(st.integers()) | st.dictionaries(st.text(), st.text(), min_size=1))
def test_settings_of_any_shape_are_answered(settings):
    response, _ = answer("external_fragmentation", settings)
    assert (response["error"] is None) == (not isinstance(settings, dict))


def test_declarations_are_plain_json_with_whole_presets():
    declared = declarations()
    assert json.loads(json.dumps(declared)) == declared
    assert [each["name"] for each in declared] == list(EXPERIMENTS)
    for each in declared:
        names = [param["name"] for param in each["params"]]
        for preset in each["presets"]:
            assert list(preset["settings"]) == names


def test_a_package_that_is_missing_is_named_before_anything_runs(monkeypatch):
    monkeypatch.setattr("pycore.experiments.experiment.find_spec", lambda name: None)
    answer = Handler().handle({"kind": "experiment", "name": "refcount_bug", "settings": {}})
    assert "needs numpy" in answer["error"]["en"]
    assert "numpy" in answer["error"]["zh"]
