"""A whole site, built from a small project."""

import gzip
import hashlib
import json
import re
import sys

import pytest

import build
from app.site.archive import unpack
from app.site.build_error import BuildError
from app.site.static_site import bokeh_bundles, build_site


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_the_same_sources_give_the_same_bytes(small_project, small_site, small_page, shared_cache, tmp_path):
    again = build_site(
        small_project, tmp_path / "again", offline=True, render=small_page, say=lambda line: None
    )
    assert contents(again.folder) == contents(small_site.folder)


def test_every_file_but_three_carries_the_hash_of_its_content(small_site):
    for name, content in contents(small_site.folder).items():
        if name in ("index.html", "sw.js", "NOTICE.txt") or "/pyodide." in name:
            continue
        assert hashlib.sha256(content).hexdigest()[:10] == name.split(".")[-2], name


def test_only_what_the_page_leads_to_is_shipped(small_site):
    names = " ".join(contents(small_site.folder))
    assert "unused" not in names
    assert "bokeh" not in names
    assert "pyodide.asm.wasm" in names


def test_what_is_in_memory_lies_in_no_archive_and_nothing_lies_in_two(small_site):
    files = contents(small_site.folder)
    core, rest = (unpack(files[small_site.urls[name]]) for name in ("python/core.zip", "python/rest.zip"))
    assert {"wave.pyc", "email/message.pyc", "unittest/__init__.pyc"} <= set(rest)
    assert "pycore/late.pyc" in core, "imported by nothing that a simulation takes"
    assert not set(core) & set(rest)
    assert not {"json/__init__.pyc", "_pyodide/__init__.pyc", "app/backend/handle.pyc"} & (
        set(core) | set(rest)
    )


def test_modules_are_unchecked_hash_based_pyc_of_the_sites_own_interpreter(small_site):
    files = contents(small_site.folder)
    archives = (unpack(files[small_site.urls[name]]) for name in ("python/core.zip", "python/rest.zip"))
    compiled = {name: data for archive in archives for name, data in archive.items()}
    assert all(name.endswith(".pyc") for name in compiled)
    assert len({data[:4] for data in compiled.values()}) == 1
    # PEP 552: bit 0 = hash-based, bit 1 = check the source.
    assert {int.from_bytes(data[4:8], "little") for data in compiled.values()} == {1}


def test_the_image_holds_a_part_of_memory_only_and_no_docstring_of_the_core(small_site):
    image = gzip.decompress(contents(small_site.folder)[small_site.urls["python/image.bin"]])
    assert len(image) < 15_000_000
    assert b"app.backend.handle" in image
    assert b"Says what it was asked" not in image


def test_the_service_worker_lists_every_hashed_file(small_site):
    files = contents(small_site.folder)
    release = json.loads(re.search(rb"^const RELEASE = (.*);$", files["sw.js"], re.MULTILINE)[1])
    hashed = {name for name in files if name.startswith("assets/")}
    assert set(release["files"]) | set(release["later"]) == hashed
    assert release["later"] == [small_site.urls["python/rest.zip"]]


def test_the_notice_names_each_licence(small_site):
    said = (small_site.folder / "NOTICE.txt").read_text()
    for part in (
        "Mozilla Public\nLicense, version 2.0",
        "PYTHON SOFTWARE FOUNDATION LICENSE",
        "Bokeh Contributors",
    ):
        assert part.replace("\n", " ") in " ".join(said.split()), part


def test_what_a_visitor_waits_for_stays_in_the_budget_and_the_rest_is_not_counted(small_site):
    total = sum(size.gzip for size in small_site.sizes)
    on_demand = [size for size in small_site.sizes if size.group.startswith("on demand")]
    assert sum(size.gzip for size in on_demand) > 1_000_000
    assert small_site.until_interactive == total - sum(size.gzip for size in on_demand) <= 8_000_000


def test_a_build_that_breaks_the_policy_leaves_the_site_before_it_whole(
    small_project, small_site, shared_cache
):
    before = contents(small_site.folder)
    with pytest.raises(BuildError, match="an inline script"):
        build_site(
            small_project,
            small_site.folder,
            offline=True,
            render=lambda urls: "<html><head></head><script>go()</script></html>",
            say=lambda line: None,
        )
    assert contents(small_site.folder) == before


def test_a_folder_with_other_things_in_it_is_left_alone(small_project, small_page, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(BuildError, match="holds other files than a site"):
        build_site(small_project, tmp_path, render=small_page)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_core_that_fails_in_the_sites_interpreter_stops_the_build(
    small_project, small_page, shared_cache, tmp_path
):
    root = tmp_path / "broken"
    for name, content in contents(small_project).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    (root / "app/backend/handle.py").write_text("import module_that_is_nowhere\n")
    with pytest.raises(
        BuildError, match=r"trace_imports\.py failed .*: ModuleNotFoundError: .*module_that_is_nowhere"
    ):
        build_site(root, tmp_path / "out", offline=True, render=small_page, say=lambda line: None)


def test_the_command_says_the_reason_and_exits_with_1(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("years of work")
    assert build.main(["--out", str(tmp_path), "--offline"]) == 1
    assert "build.py: " in capsys.readouterr().err


def test_wrong_usage_exits_with_2(capsys):
    with pytest.raises(SystemExit) as stop:
        build.main(["--frobnicate"])
    assert stop.value.code == 2


def test_a_package_that_is_not_installed_is_named_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with pytest.raises(BuildError, match=r"needs the package bokeh: pip install -e '\.\[build\]'"):
        bokeh_bundles(["bokeh"])


def test_a_bundle_that_bokeh_does_not_hold_is_named():
    with pytest.raises(BuildError, match=r"holds no bokeh-of-tomorrow\.min\.js"):
        bokeh_bundles(["bokeh-of-tomorrow"])
