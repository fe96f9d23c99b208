"""`kvscope experiment` runs what is declared, and leaves with 1 if a claim does not hold."""

from dataclasses import replace

import pytest

import app.cli.experiment
import pycore.experiments
from app.backend.texts import LANGUAGES, text
from pycore.experiments import EXPERIMENTS, by_subject

QUICK = EXPERIMENTS["block_size"]
QUICKLY = ("--requests", 500)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_list_has_every_experiment_with_its_question(kvscope, monkeypatch, lang):
    monkeypatch.setenv("COLUMNS", "500")
    out = kvscope("experiment", "list", "--lang", lang).out
    for each in EXPERIMENTS.values():
        assert f"{each.name}\n  {text(lang, each.key('question'))}\n" in out
    headings = [out.index(text(lang, f"experiment.subject.{subject}") + "\n") for subject in by_subject()]
    assert headings == sorted(headings)


def test_the_list_is_a_document_too(kvscope):
    listed = kvscope("experiment", "list", "--json").document["experiments"]
    assert [each["name"] for each in listed] == list(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_param_and_preset_is_in_the_help(kvscope, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "500")
    page = kvscope("experiment", name, "--help").out
    for param in EXPERIMENTS[name].params:
        assert f"--{param.name.replace('_', '-')}" in page
        assert text("en", EXPERIMENTS[name].key(f"param.{param.name}")) in page
    for preset in EXPERIMENTS[name].presets:
        assert preset.name in page


def test_the_document_is_the_report(kvscope):
    document = kvscope("experiment", "block_size", *QUICKLY, "--seed", 3, "--json").document
    report = QUICK.report(QUICK.run({"requests": 500, "seed": 3}))
    assert document["version"] == 1
    assert document["settings"] == {"seed": 3, "requests": 500, "large_blocks": False}
    for part in ("experiment", "settings", "figures"):
        assert document[part] == report[part]
    assert [claim["holds"] for claim in document["claims"]] == [claim["holds"] for claim in report["claims"]]


def test_a_preset_gives_the_settings_and_options_override_it(kvscope):
    arguments = ("experiment", "block_size", "--preset", "published_setting", "--json", *QUICKLY)
    assert kvscope(*arguments).document["settings"]["large_blocks"] is True
    assert kvscope(*arguments, "--no-large-blocks").document["settings"]["large_blocks"] is False


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("columns", [40, 100])
def test_every_table_chart_and_claim_is_shown(kvscope, monkeypatch, lang, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = kvscope("experiment", "block_size", "--lang", lang)
    shown = "".join(outcome.out.split())
    report = QUICK.report(QUICK.run({}))
    for part in (*report["tables"], *report["charts"]):
        assert "".join(text(lang, part["key"]).split()) in shown
    for claim in report["claims"]:
        sentence = ("✓ " if claim["holds"] else "✗ ") + text(lang, claim["key"], **report["figures"])
        assert "".join(sentence.split()) in shown
        assert "".join(text(lang, claim["source"]).split()) in shown
    assert outcome.code == 0


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_cell_of_every_table_is_shown(kvscope, monkeypatch, name):
    measured = []  # once: the document and the tables are of the same run

    def once(*arguments, **options):
        if not measured:
            measured.append(measure(*arguments, **options))
        return measured[0]

    measure = app.cli.experiment._measured
    monkeypatch.setattr(app.cli.experiment, "_measured", once)
    document = kvscope("experiment", name, "--json").document
    shown = kvscope("experiment", name).out
    for table in document["tables"]:
        for row in table["rows"]:
            for cell in row:
                assert isinstance(cell, str) or cell is None or f"{cell:,}" in shown


def test_a_claim_that_does_not_hold_is_exit_code_1(kvscope, monkeypatch):
    never = replace(QUICK.claims[0], check=lambda result: False)
    refuted = replace(QUICK, claims=(never, *QUICK.claims[1:]))
    monkeypatch.setitem(pycore.experiments.EXPERIMENTS, QUICK.name, refuted)
    outcome = kvscope("experiment", QUICK.name)
    assert outcome.code == 1
    assert "✗ " in outcome.out
    assert "Of 4 claims, 1 does not hold." in outcome.out
    assert kvscope("experiment", QUICK.name, "--json").code == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("fragmentaton",),
            (
                "kvscope experiment has no command “fragmentaton”; "
                "expected fragmentation, external_fragmentation, paged_attention."
            ),
        ),
        (("block_size", "--seed", "x"), "--seed is “x”; expected 0 … 9,999."),
        (("block_size", "--requests", "1"), "--requests is “1”; expected 100 … 100,000."),
        (
            ("block_size", "--preset", "mine"),
            "--preset is “mine”; expected small_blocks, published_setting, other_seed.",
        ),
    ],
)
def test_settings_that_will_not_do_are_refused(refused, arguments, sentence):
    assert refused("experiment", *arguments) == sentence
