"""The finder for modules that are fetched on demand."""

import importlib
import sys
import zipfile

import pytest

from app.backend.modules_on_demand import ModulesOnDemand

CONTENT = {
    "core.zip": {"json/late_submodule.py": "VALUE = 2\n"},
    "rest.zip": {"lone_late_module.py": "VALUE = 1\n", "other_late_module.py": "VALUE = 3\n"},
}
NAMES = {
    "core.zip": ["json.late_submodule"],
    "rest.zip": ["lone_late_module", "other_late_module"],
}


@pytest.fixture
def finder(tmp_path, monkeypatch):
    """make(refusal) -> names of the archives that a finder over two has asked for; gone after the test."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    fetched = []

    def make(refusal=""):
        def fetch(path):
            name = path.rpartition("/")[2]
            fetched.append(name)
            if not refusal:
                with zipfile.ZipFile(path, "w") as archive:
                    for member, source in CONTENT[name].items():
                        archive.writestr(member, source)
            return refusal

        ModulesOnDemand({f"{tmp_path}/{name}": names for name, names in NAMES.items()}, fetch).install()
        return fetched

    yield make
    for names in NAMES.values():
        for name in names:
            sys.modules.pop(name, None)


def test_nothing_is_fetched_until_a_module_of_an_archive_is_imported(finder):
    fetched = finder()
    importlib.import_module("json")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("module_that_is_nowhere")
    assert fetched == []


def test_an_import_fetches_the_archive_that_holds_the_module_and_the_next_does_not(finder):
    fetched = finder()
    assert importlib.import_module("lone_late_module").VALUE == 1
    assert importlib.import_module("other_late_module").VALUE == 3
    assert fetched == ["rest.zip"]
    assert importlib.import_module("json.late_submodule").VALUE == 2
    assert fetched == ["rest.zip", "core.zip"]


def test_a_submodule_is_found_though_its_package_lies_elsewhere(finder):
    finder()
    module = importlib.import_module("json.late_submodule")
    assert "core.zip" in module.__file__
    assert "core.zip" not in importlib.import_module("json").__file__


def test_an_archive_that_cannot_be_fetched_is_an_import_error_with_the_reason(finder):
    fetched = finder("HTTP status 404")
    for _ in range(2):
        with pytest.raises(ImportError, match="holds lone_late_module cannot be fetched: HTTP status 404"):
            importlib.import_module("lone_late_module")
    assert len(fetched) == 2, "a later import tries again"


def test_a_finder_that_nobody_has_connected_says_so(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    ModulesOnDemand({"/nowhere.zip": ["lone_late_module"]}).install()
    with pytest.raises(ImportError, match="cannot be fetched: nobody has said yet from where"):
        importlib.import_module("lone_late_module")
