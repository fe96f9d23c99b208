"""The first results of the experiments: kept from one build to the next for as long as their sources stay."""

import json

import pytest

from app.frontend import default_reports as module

reports = module.default_reports.__wrapped__  # past its own memory
NAME = "refcount_bug"


@pytest.fixture(autouse=True)
def one_experiment(monkeypatch):
    monkeypatch.setattr(module, "declarations", lambda: [{"name": NAME}])


def test_a_report_is_kept_and_taken_again(tmp_path):
    made = reports(tmp_path / "reports")
    assert made == json.loads(json.dumps(reports()))
    (kept,) = (tmp_path / "reports").iterdir()
    kept.write_text('{"from": "the folder"}')
    assert reports(tmp_path / "reports") == {NAME: {"from": "the folder"}}


def test_a_report_of_other_sources_is_made_anew_and_takes_the_place_of_the_old(tmp_path, monkeypatch):
    before = reports(tmp_path)
    monkeypatch.setattr(module, "report_version", lambda name: "another")
    assert reports(tmp_path) == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_report_that_could_not_be_made_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "declarations", lambda: [{"name": "nobody's"}])
    monkeypatch.setattr(module, "report_version", lambda name: "any")
    assert reports(tmp_path)["nobody's"]["error"]
    assert list(tmp_path.iterdir()) == []
