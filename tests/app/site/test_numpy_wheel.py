"""numpy's wheel: taken when it is the pinned one, left out when nobody has it."""

import hashlib
import io
import json
import re
import zipfile

import pytest

from app.site import numpy_wheel
from app.site.build_error import BuildError
from app.site.interpreter_files import SourceUnavailableError
from app.site.numpy_wheel import NUMPY_WHEEL, numpy_licences, obtain_numpy
from app.site.pins import PYODIDE_VERSION
from app.site.static_site import with_release

WHEEL = b"a wheel"


@pytest.fixture(autouse=True)
def small_pin(monkeypatch):
    monkeypatch.setitem(numpy_wheel.PINS, NUMPY_WHEEL, hashlib.sha256(WHEEL).hexdigest())


def silent(scratch):
    raise SourceUnavailableError("no route")


def obtain(cache, *, offline=False, **sources):
    said = []
    return obtain_numpy(cache, offline=offline, say=said.append, sources=sources), said


def test_it_is_fetched_once_and_kept(tmp_path):
    wheel, said = obtain(tmp_path, first=silent, second=lambda scratch: {NUMPY_WHEEL: WHEEL})
    assert wheel == WHEEL
    assert [line.rpartition(" ")[2] for line in said] == ["first", "second"]
    assert obtain(tmp_path, offline=True) == (WHEEL, [])


def test_without_a_source_the_site_goes_without_it_and_the_reason_is_told(tmp_path):
    wheel, said = obtain(tmp_path, first=silent)
    assert wheel is None
    assert "(first: no route): the site is built without numpy" in said[-1]


def test_offline_and_not_in_the_cache_it_is_left_out(tmp_path):
    wheel, said = obtain(tmp_path, offline=True)
    assert wheel is None
    assert "not in the cache" in said[0]


@pytest.mark.parametrize("kept", [True, False])
def test_another_wheel_stops_the_build(tmp_path, kept):
    if kept:
        path = tmp_path / f"pyodide-{PYODIDE_VERSION}" / NUMPY_WHEEL
        path.parent.mkdir()
        path.write_bytes(b"another")
    with pytest.raises(BuildError, match=r"has sha256 .*, expected .*: the build stops here"):
        obtain(tmp_path, somewhere=lambda scratch: {NUMPY_WHEEL: b"another"})


def test_its_own_licence_comes_first_and_those_of_its_parts_follow(tmp_path):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("numpy-2.dist-info/licenses/numpy/ma/LICENSE", "of a part")
        archive.writestr("numpy-2.dist-info/licenses/LICENSE.txt", "of the whole")
        archive.writestr("numpy/ma/core.py", "")
    assert numpy_licences(target.getvalue()) == "LICENSE.txt\n\nof the whole\n\nnumpy/ma/LICENSE\n\nof a part"


def test_a_wheel_without_a_licence_is_not_shipped():
    target = io.BytesIO()
    zipfile.ZipFile(target, "w").close()
    with pytest.raises(BuildError, match="holds no licence"):
        numpy_licences(target.getvalue())


def test_the_service_worker_keeps_it_only_once_it_was_asked_for():
    script = b"const RELEASE = {};\nrest();\n"
    done = with_release(script, b"page", ["a.js", "n.whl", "r.zip"], later=["r.zip"], asked=["n.whl", None])
    release = json.loads(re.search(rb"^const RELEASE = (.*);$", done, re.MULTILINE)[1])
    assert (release["files"], release["later"], release["asked"]) == (["a.js"], ["r.zip"], ["n.whl"])
