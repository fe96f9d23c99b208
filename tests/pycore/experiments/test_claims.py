"""Every claim of every experiment, at every preset; and that what it says can be shown."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from pycore.experiments import EXPERIMENTS
from pycore.experiments.result import CELL_KINDS, CHART_KINDS
from tests.pycore.experiments.reports import report

TEXT = Path(__file__).parents[3] / "static" / "text"
LANGUAGES = ("en", "zh")
_FIELD = re.compile(r"\{(\w+)(?:\|[^{}]*)?\}")

RUNS = [
    pytest.param(experiment.name, preset.name, id=f"{experiment.name}-{preset.name}")
    for experiment in EXPERIMENTS.values()
    for preset in experiment.presets
]


@cache
def texts(lang: str) -> dict[str, str]:
    """The experiments' catalogues."""
    found: dict[str, str] = {}
    for path in sorted((TEXT / lang).glob("*experiments.json")):
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found


# Of class scope, so that both tests of a preset follow each other and share its run.
@pytest.mark.parametrize(("name", "preset"), RUNS, scope="class")
class TestPreset:
    def test_every_claim_holds_and_its_sentence_can_be_filled(self, name, preset):
        found = report(name, preset)
        refuted = [claim["id"] for claim in found["claims"] if not claim["holds"]]
        assert not refuted, f"{refuted} with {found['figures']}"
        for claim in found["claims"]:
            for lang in LANGUAGES:
                fields = set(_FIELD.findall(texts(lang)[claim["key"]]))
                assert fields, f"{claim['key']} ({lang}) shows no measured number"
                assert fields <= found["figures"].keys()

    def test_a_report_is_plain_json_with_a_text_for_every_key(self, name, preset):
        found = report(name, preset)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        keys = [claim[part] for claim in found["claims"] for part in ("key", "source")]
        for table in found["tables"]:
            keys += [table["key"]] + [column[part] for column in table["columns"] for part in ("key", "unit")]
            for i, column in enumerate(table["columns"]):
                assert column["kind"] in CELL_KINDS
                cells = [row[i] for row in table["rows"]]
                keys += cells if column["kind"] == "key" else []
                wanted = {"key": str, "int": int, "float": (int, float)}[column["kind"]]
                assert all(cell is None or isinstance(cell, wanted) for cell in cells), (column, cells)
        for chart in found["charts"]:
            assert chart["kind"] in CHART_KINDS
            keys += [chart[part] for part in ("key", "x_label", "x_unit", "y_label", "y_unit")]
            keys += [series["key"] for series in chart["series"]]
            keys += chart["x"] if chart["x_kind"] == "key" else []
        for lang in LANGUAGES:
            assert {key for key in keys if key} <= texts(lang).keys()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_declared_part_has_a_text(name):
    experiment = EXPERIMENTS[name]
    keys = [experiment.key(part) for part in ("title", "question", "explanation")]
    keys.append(f"experiment.subject.{experiment.subject}")
    for param in experiment.params:
        keys += [experiment.key(f"param.{param.name}"), *([param.unit] if param.unit else [])]
        keys += [experiment.key(f"param.{param.name}.{choice}") for choice in param.choices]
    keys += [experiment.key(f"preset.{preset.name}") for preset in experiment.presets]
    for lang in LANGUAGES:
        assert set(keys) <= texts(lang).keys()


def test_both_languages_have_the_same_keys_and_fields():
    english, chinese = (texts(lang) for lang in LANGUAGES)
    assert english.keys() == chinese.keys()
    for key, template in english.items():
        assert set(_FIELD.findall(template)) == set(_FIELD.findall(chinese[key])), key


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_names_are_unique_and_presets_valid(experiment):
    for parts in (experiment.params, experiment.presets):
        names = [part.name for part in parts]
        assert len(names) == len(set(names))
    for param in experiment.params:
        assert param.parse(param.default) == param.default
    for preset in experiment.presets:
        experiment.validated(preset.settings)
    assert experiment.presets[0].settings == {}
