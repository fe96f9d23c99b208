"""The finder for library modules that are fetched on demand."""

import importlib
import sys
import zipfile

import pytest

from app.backend.rest_of_library import RestOfLibrary


@pytest.fixture
def finder(tmp_path, monkeypatch):
    """make(refusal) -> finder over an archive with two modules; it is gone after the test."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    fetched = []

    def make(refusal=""):
        def fetch(path):
            fetched.append(path)
            if not refusal:
                with zipfile.ZipFile(path, "w") as archive:
                    archive.writestr("lone_late_module.py", "VALUE = 1\n")
                    archive.writestr("json/late_submodule.py", "VALUE = 2\n")
            return refusal

        archive = str(tmp_path / "rest.zip")
        rest = RestOfLibrary(["lone_late_module", "json.late_submodule"], archive, fetch)
        rest.install()
        return rest, fetched

    yield make
    for name in ("lone_late_module", "json.late_submodule"):
        sys.modules.pop(name, None)


def test_nothing_is_fetched_until_a_module_of_the_rest_is_imported(finder):
    _, fetched = finder()
    importlib.import_module("json")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("module_that_is_nowhere")
    assert fetched == []


def test_the_first_import_fetches_and_the_next_does_not(finder):
    rest, fetched = finder()
    assert importlib.import_module("lone_late_module").VALUE == 1
    assert importlib.import_module("json.late_submodule").VALUE == 2
    assert len(fetched) == 1
    assert rest.fetched


def test_a_submodule_is_found_though_its_package_lies_elsewhere(finder):
    finder()
    module = importlib.import_module("json.late_submodule")
    assert "rest.zip" in module.__file__
    assert "rest.zip" not in importlib.import_module("json").__file__


def test_an_archive_that_cannot_be_fetched_is_an_import_error_with_the_reason(finder):
    rest, fetched = finder("HTTP status 404")
    for _ in range(2):
        with pytest.raises(ImportError, match="holds lone_late_module cannot be fetched: HTTP status 404"):
            importlib.import_module("lone_late_module")
    assert len(fetched) == 2, "a later import tries again"
    assert not rest.fetched
