"""Modules as one file: the same values as from the modules apart, and a refusal of what is not understood."""

import subprocess

import pytest

from app.site.build_error import BuildError
from app.site.bundle import Bundle
from app.site.interpreter import find_node
from tests.app.site.conftest import ROOT

MODULES = {
    "entry.js": """// The one that is run.
import { double, log } from "./double.js";
import {
  NAME as OTHER,
  late,
} from "./names.js";

const NAME = "entry";
log(`${NAME} ${OTHER} ${double(21)}`);
const { shout } = await late();
const again = await late();
log(shout(NAME), again.shout === shout);
console.log(JSON.stringify(said()));
import { said } from "./double.js";
""",
    "double.js": """const lines = [];
export const log = (...words) => lines.push(words.join(" "));
export function double(x) {
  return twice(x);
}
function twice(x) {
  return 2 * x;
}
export const said = () => lines;
log("double is run");
""",
    "names.js": """export const NAME = "names";
export const late = () => import("./late.js");
""",
    "late.js": """import { log } from "./double.js";
import { mark } from "./later.js";
log("late is run");
export class Unused {}
export async function never() {}
export function shout(word) {
  return word.toUpperCase() + mark;
}
""",
    "later.js": """export const mark = await Promise.resolve("!");
""",
}


def encoded(modules):
    return {name: source.encode() for name, source in modules.items()}


def run(script, folder):
    (folder / "bundle.mjs").write_bytes(script)
    done = subprocess.run([find_node(), folder / "bundle.mjs"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_bundle_does_what_its_modules_do_and_runs_late_ones_once_and_late(tmp_path):
    said = run(Bundle("entry.js", encoded(MODULES)).content(), tmp_path)
    assert said == '["double is run","entry names 42","late is run","ENTRY! true"]'
    for name, source in MODULES.items():
        (tmp_path / name).write_text(source)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    apart = subprocess.run([find_node(), tmp_path / "entry.js"], capture_output=True, text=True)
    assert apart.stdout.strip() == said


def test_a_module_that_stays_apart_is_run_once_whoever_imports_it(tmp_path):
    modules = {
        "entry.js": 'import { tell } from "./apart.js";\nimport { say } from "./names.js";\ntell(say());\n',
        "names.js": 'import { tell as told } from "./apart.js";\nexport const say = () => told();\n',
        "apart.js": "let times = 0;\nexport const tell = () => console.log((times += 1));\n",
    }
    bundle = Bundle("entry.js", encoded(modules), ["apart.js"]).content()
    (tmp_path / "apart.js").write_text(modules["apart.js"])
    (tmp_path / "package.json").write_text('{"type": "module"}')
    assert run(bundle, tmp_path) == "1\n2"
    assert b"times" not in bundle


@pytest.mark.parametrize(
    "line",
    [
        "export default 1;",
        "export let changing = 1;",
        "export { double };",
        'import * as all from "./double.js";',
        'import "./double.js";',
        'import { far } from "package";',
    ],
)
def test_another_form_than_the_plain_one_is_refused_with_its_line(line):
    with pytest.raises(BuildError) as refusal:
        Bundle("entry.js", encoded(MODULES | {"names.js": f"{line}\n"}))
    assert f"static/names.js: {line!r}" in str(refusal.value)


def test_a_module_that_is_missing_is_named_with_the_one_that_wants_it():
    with pytest.raises(BuildError, match=r"static/late\.js: '\./later\.js' names no file"):
        Bundle("entry.js", encoded({name: source for name, source in MODULES.items() if name != "later.js"}))


def test_a_circle_is_refused():
    with pytest.raises(BuildError, match=r"late\.js -> later\.js -> late\.js: .* circle"):
        Bundle("entry.js", encoded(MODULES | {"later.js": 'import { shout } from "./late.js";\n'}))


def test_the_first_screen_runs_no_module_that_waits_for_the_data_of_the_other_tabs():
    files = {path.name: path.read_bytes() for path in (ROOT / "static").glob("*.js")}
    script = Bundle("boot.js", files).content().decode()
    assert "const $tab_data = {\nopen()" in script, "run at once, it would be fetched before the page plays"
