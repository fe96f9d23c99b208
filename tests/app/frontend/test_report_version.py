"""A report is made anew when something that it is made from changes, and only then."""

import shutil

import pytest

from app.frontend.report_version import PROJECT, imported_by, report_version
from pycore.experiments import EXPERIMENTS


@pytest.fixture
def project(tmp_path):
    for package in ("pycore", "app/backend"):
        shutil.copytree(PROJECT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def touch(path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")


def test_another_experiment_or_the_rest_of_the_backend_changes_nothing(project):
    before = report_version("refcount_bug", project)
    touch(project / "pycore/experiments/theorem.py")
    touch(project / "pycore/experiments/__init__.py")
    touch(project / "app/backend/replay.py")
    assert report_version("refcount_bug", project.rename(project.with_name("moved"))) == before


@pytest.mark.parametrize(
    "path",
    [
        "pycore/experiments/refcount_bug.py",
        "pycore/experiments/experiment.py",
        "pycore/memory/block_pool.py",
        "app/backend/experiment.py",
    ],
)
def test_what_the_experiment_runs_and_what_its_report_goes_through_counts(project, path):
    before = report_version("refcount_bug", project)
    touch(project / path)
    assert report_version("refcount_bug", project) != before


def test_its_own_sentences_count(monkeypatch):
    before = report_version("refcount_bug")
    key = EXPERIMENTS["refcount_bug"].key("title")
    monkeypatch.setattr("app.frontend.report_version.catalogue", lambda lang: {key: "another title"})
    assert report_version("refcount_bug") != before


def test_imports_are_followed_through_modules_and_into_functions(tmp_path):
    (tmp_path / "pycore/far").mkdir(parents=True)
    (tmp_path / "pycore/a.py").write_text("from pycore.far import b, NAME\n")
    (tmp_path / "pycore/far/__init__.py").write_text("NAME = 1\n")
    (tmp_path / "pycore/far/b.py").write_text("import json\ndef late():\n    import pycore.c\n")
    (tmp_path / "pycore/c.py").write_text("from pycore.a import late\n")
    assert imported_by("pycore.a", tmp_path) == {"pycore.a", "pycore.far", "pycore.far.b", "pycore.c"}
