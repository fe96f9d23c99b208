"""Content-hashed names, and references rewritten to them."""

import re

import pytest

from app.site.assets import Assets
from app.site.build_error import BuildError


def built(**files):
    assets = Assets(
        {name.replace("__", "/").replace("_", "."): text.encode() for name, text in files.items()}
    )
    return assets, assets.build()


def test_a_name_changes_when_the_content_does_and_only_then():
    _, first = built(a_js="1", b_js="2")
    _, second = built(a_js="1", b_js="3")
    assert first["a.js"] == second["a.js"]
    assert first["b.js"] != second["b.js"]
    assert re.fullmatch(r"assets/a\.[0-9a-f]{10}\.js", first["a.js"])


def test_a_change_reaches_the_names_of_all_who_refer_to_it():
    names = [built(a_js='import "./b.js"', b_js='export * from "./c.js"', c_js=f"{n}")[1] for n in (1, 2)]
    assert all(names[0][name] != names[1][name] for name in ("a.js", "b.js", "c.js"))


@pytest.mark.parametrize(
    "reference",
    [
        'import { x } from "./part/b.js";',
        "import {\n  x,\n} from './part/b.js';",
        'import "./part/b.js";',
        'const b = await import("./part/b.js");',
        'new URL("./part/b.js", import.meta.url)',
        'export { x } from "./part/b.js";',
    ],
)
def test_every_kind_of_reference_in_javascript_leads_to_the_final_name(reference):
    assets, urls = built(a_js=reference, part__b_js="export const x = 1;")
    expected = reference.replace("./part/b.js", "./" + urls["part/b.js"].removeprefix("assets/"))
    assert assets.content("a.js").decode() == expected


def test_references_go_up_and_down_folders():
    assets, urls = built(
        part__a_js='import "../b.js"', b_js="", style_css="p { background: url(./img/m.svg) }", img__m_svg=""
    )
    assert f'"../{urls["b.js"].removeprefix("assets/")}"' in assets.content("part/a.js").decode()
    assert f"url(./{urls['img/m.svg'].removeprefix('assets/')})" in assets.content("style.css").decode()


def test_a_reference_to_nothing_names_file_line_and_target():
    with pytest.raises(BuildError, match=r"static/a\.js line 2: '\./gone\.js' names no file"):
        built(a_js='// first\nimport "./gone.js";')


@pytest.mark.parametrize(
    "code",
    [
        "new URL(`./${name}.js`, import.meta.url)",
        "new URL(name, import.meta.url)",
        'import { x } from "lodash";',
    ],
)
def test_a_reference_that_cannot_be_rewritten_stops_the_build(code):
    with pytest.raises(BuildError, match="line 1: expected a literal path"):
        built(a_js=code)


def test_files_that_refer_to_each_other_in_a_circle_are_named():
    with pytest.raises(BuildError, match=r"a\.js -> b\.js -> a\.js"):
        built(a_js='import "./b.js"', b_js='import "./a.js"')


def test_only_files_that_the_page_leads_to_are_shipped():
    assets, urls = built(a_js='import "./b.js"', b_js="", lone_js="")
    assert set(assets.reached_from(f'<script src="{urls["a.js"]}">')) == {urls["a.js"], urls["b.js"]}


def test_the_interpreter_keeps_its_names_in_a_hashed_folder_and_comes_whole():
    files = {"pyodide/pyodide.mjs": b"1", "pyodide/pyodide.asm.wasm": b"2"}
    assets = Assets(files)
    urls = assets.build()
    assert re.fullmatch(r"assets/pyodide\.[0-9a-f]{10}/pyodide\.mjs", urls["pyodide/pyodide.mjs"])
    assert set(assets.reached_from(urls["pyodide/pyodide.mjs"])) == set(urls.values())
    other = Assets(files | {"pyodide/pyodide.asm.wasm": b"3"}).build()
    assert other["pyodide/pyodide.mjs"] != urls["pyodide/pyodide.mjs"]


def test_a_verbatim_file_is_not_rewritten():
    content = b'import "./gone.js"; import x from "bare";'
    assets = Assets({"a.js": content}, verbatim=frozenset({"a.js"}))
    assets.build()
    assert assets.content("a.js") == content


def test_the_modules_behind_a_page_are_those_it_imports_and_not_those_of_its_worker():
    assets, urls = built(
        boot_js='import "./b.js"; new Worker(new URL("./worker.js", import.meta.url))',
        b_js='import "./c.js"',
        c_js="",
        worker_js='import "./d.js"',
        d_js="",
    )
    found = assets.modules_behind(f'<script type="module" src="{urls["boot.js"]}"></script>')
    assert found == [urls["b.js"], urls["c.js"]]
