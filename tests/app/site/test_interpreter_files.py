"""Where the interpreter comes from, and that only the pinned bytes are taken."""

import hashlib
import io
import os
import sys
import tarfile
import zipfile

import pytest

from app.site import interpreter_files
from app.site.build_error import BuildError
from app.site.interpreter_files import SourceUnavailableError, from_npm, from_pip, obtain_interpreter_files
from app.site.pins import PYODIDE_VERSION

FILES = {"pyodide.mjs": b"loader", "python_stdlib.zip": b"library"}


@pytest.fixture(autouse=True)
def small_pins(monkeypatch):
    pins = {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}
    monkeypatch.setattr(interpreter_files, "INTERPRETER_SHA256", pins)
    # Bound as a default when the function was made.
    monkeypatch.setattr(interpreter_files.check_pinned, "__defaults__", (pins,))


def use_sources(monkeypatch, **sources):
    monkeypatch.setattr(interpreter_files, "SOURCES", sources)


def silent(scratch):
    raise SourceUnavailableError("no route")


def good(scratch):
    return dict(FILES)


def obtain(cache, offline=False):
    said = []
    return obtain_interpreter_files(cache, offline=offline, say=said.append), said


def test_the_second_build_takes_everything_from_the_cache(tmp_path, monkeypatch):
    use_sources(monkeypatch, somewhere=good)
    folder, said = obtain(tmp_path)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    assert len(said) == 1
    use_sources(monkeypatch)
    assert obtain(tmp_path, offline=True) == (folder, [])


def test_a_source_that_does_not_answer_is_followed_by_the_next(tmp_path, monkeypatch):
    use_sources(monkeypatch, first=silent, second=good)
    _, said = obtain(tmp_path)
    assert [line.rpartition(" ")[2] for line in said] == ["first", "second"]


def test_when_no_source_answers_each_reason_is_told(tmp_path, monkeypatch):
    use_sources(monkeypatch, first=silent, second=silent)
    with pytest.raises(BuildError, match=r"could not be fetched \(first: no route; second: no route\)"):
        obtain(tmp_path)


def test_a_file_with_another_hash_stops_the_build_with_what_where_expected_and_got(tmp_path, monkeypatch):
    tampered = FILES | {"pyodide.mjs": b"tampered"}
    use_sources(monkeypatch, first=lambda scratch: tampered, second=good)
    with pytest.raises(BuildError) as stop:
        obtain(tmp_path)
    said = str(stop.value)
    got, expected = (hashlib.sha256(data).hexdigest() for data in (b"tampered", b"loader"))
    assert f"pyodide.mjs from first has sha256 {got}, expected {expected}" in said
    assert not list(tmp_path.iterdir()), "nothing of a refused source is kept"


def test_a_damaged_cache_is_noticed(tmp_path, monkeypatch):
    use_sources(monkeypatch, somewhere=good)
    folder, _ = obtain(tmp_path)
    (folder / "pyodide.mjs").write_bytes(b"damaged")
    with pytest.raises(BuildError, match=r"pyodide\.mjs from the cache \(.*\) has sha256"):
        obtain(tmp_path)


def test_offline_without_a_cache_says_what_is_missing(tmp_path):
    with pytest.raises(
        BuildError, match=rf"pyodide\.mjs, python_stdlib\.zip of Pyodide {PYODIDE_VERSION} not in"
    ):
        obtain(tmp_path, offline=True)


def fake_client(folder, name, package_name, package):
    """An executable that puts `package` where the real client would put its download."""
    (folder / "package").write_bytes(package)
    client = folder / name
    client.write_text(
        f"#!{sys.executable}\nimport pathlib, shutil\n"
        f"shutil.copy({str(folder / 'package')!r}, pathlib.Path.cwd() / {package_name!r})\n"
    )
    client.chmod(0o755)
    return client


@pytest.mark.skipif(os.name == "nt", reason="the fake client is a Unix script")
def test_npm_brings_the_files_in_its_package(tmp_path, monkeypatch):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as package:
        for name, data in FILES.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(data)
            package.addfile(entry, io.BytesIO(data))
    client = fake_client(tmp_path, "npm", "pyodide.tgz", target.getvalue())
    monkeypatch.setenv("PATH", str(client.parent))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert from_npm(scratch) == FILES


@pytest.mark.skipif(os.name == "nt", reason="the fake client is a Unix script")
def test_pip_brings_the_files_in_a_wheel_and_a_missing_one_is_named(tmp_path, monkeypatch):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as package:
        package.writestr("open_webui/frontend/pyodide/pyodide.mjs", FILES["pyodide.mjs"])
    client = fake_client(tmp_path, "python", "open_webui.whl", target.getvalue())
    monkeypatch.setattr(sys, "executable", str(client))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(
        SourceUnavailableError, match=r"holds no open_webui/frontend/pyodide/python_stdlib\.zip"
    ):
        from_pip(scratch)


def test_without_npm_that_source_steps_aside(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceUnavailableError, match="npm is not installed"):
        from_npm(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="the fake client is a Unix script")
def test_a_client_that_fails_is_quoted(tmp_path, monkeypatch):
    client = tmp_path / "npm"
    client.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such version')\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceUnavailableError, match="exit code 1: no such version"):
        from_npm(tmp_path)
