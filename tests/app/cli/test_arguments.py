"""Words that cannot be used are answered in one sentence, and help is complete in both languages."""

import re
from pathlib import Path

import pytest

import app.cli
from app.backend.settings import SETTINGS
from app.backend.texts import LANGUAGES, catalogue
from app.cli.options import FLAGS
from app.cli.terminal import language

COMMANDS = [
    "",
    "run",
    "replay",
    "sizing",
    "experiment",
    "experiment list",
    "experiment fragmentation",
    "site",
]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("rum", "kvscope has no command “rum”; expected run."),
        ("run --sed 5", "kvscope run has no option --sed; did you mean --seed, --steps?"),
        ("run --zzzz", "kvscope run has no option --zzzz; kvscope run --help lists those it has."),
        ("run --seed", "--seed stands without a value; expected one after it."),
        ("run --json=yes", "--json is a switch; expected no value after it."),
        ("run more", "kvscope run takes no further argument, and got “more”; options begin with --."),
        ("replay", "kvscope replay needs TRACE; kvscope replay --help tells more."),
        ("run --lang fr", "--lang is “fr”; expected en, zh."),
        ("run --block-size 0", "--block-size is “0”; expected 1 … 32."),
        ("run --blocks 0", "--blocks is “0”; expected 1 … 4,096."),
        ("run --blocks -5", "--blocks is “-5”; expected 1 … 4,096."),
        ("run --blocks 2.5", "--blocks is “2.5”; expected 1 … 4,096."),
        (f"run --blocks {10**40}", f"--blocks is “1{'0' * 39}…”; expected 1 … 4,096."),
        ("run --seed five", "--seed is “five”; expected 0 … 9,999."),
        ("run --watermark nan", "--watermark is “nan”; expected 0 … 50."),
        ("run --watermark inf", "--watermark is “inf”; expected 0 … 50."),
        ("run --steps 0", "--steps is “0”; expected 1 … 2,000."),
        ("run --mode paged,", "--mode is “paged,”; expected paged, contiguous."),
        ("run --at 91", "--at is “91”; expected 0 … 90."),
        ("run --at -1", "--at is “-1”; expected 0 … 1,000,000."),
        ("run --every 0", "--every is “0”; expected 1 … 1,000,000."),
        ("replay - --block-size 0", "--block-size is “0”; expected 1 … 1,024."),
        ("replay - --blocks -1", "--blocks is “-1”; expected 0 … 10,000,000."),
        ("replay - --limit 0", "--limit is “0”; expected 1 … 10,000,000."),
        ("replay - --step-ms -1", "--step-ms is “-1”; expected 0 … 3,600,000."),
        (
            "replay - --json --csv",
            "--json and --csv cannot be written to the same output; expected one of them.",
        ),
        (
            "replay - --compare --mode paged",
            "--compare runs every mode and reservation, so --mode cannot be set; expected one or the other.",
        ),
    ],
)
def test_unusable_words_are_answered_in_one_sentence(refused, arguments, sentence):
    assert refused(*arguments.split()) == sentence


def test_hostile_values_are_repeated_as_text(refused):
    value = "[red]<script>alert(1)</script>[/red]\x1b[31m:smile:"
    assert refused("run", "--mode", value) == (
        "--mode is “[red]<script>alert(1)</script>[/red]�[31…”; expected paged, contiguous."
    )


def test_refusals_are_in_the_language_asked_for(refused):
    assert refused("run", "--blocks", "0", "--lang", "zh") == "--blocks 的值是“0”；应为 1 … 4,096。"
    assert refused("--lang=zh", "rum") == "kvscope 没有命令“rum”；可用的有 run。"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_GB", "LC_MESSAGES": "zh_TW"}, "zh"),
    ],
)
def test_the_language_is_that_of_the_locale(environment, expected):
    assert language(["run"], environment) == expected


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_help_is_in_one_language(kvscope, command, lang):
    outcome = kvscope(*command.split(), "--help", "--lang", lang)
    assert outcome.code == 0
    assert outcome.err == ""
    assert ("用法：" in outcome.out) == (lang == "zh")
    prose = re.sub(r"\{.*?\}", "", outcome.out)
    assert bool(re.search(r"[一-鿿]", prose)) == (lang == "zh")


@pytest.mark.parametrize(
    ("command", "kind"), [("run", "simulate"), ("replay", "replay"), ("sizing", "sizing")]
)
def test_every_setting_of_the_page_is_an_option(kvscope, command, kind):
    page = kvscope(command, "--help").out
    assert [key for key in SETTINGS[kind] if FLAGS[key] not in page] == []


def test_a_group_alone_shows_its_help(kvscope):
    assert kvscope().out == kvscope("--help").out
    assert kvscope("experiment").out == kvscope("experiment", "--help").out


@pytest.mark.parametrize("columns", [24, 40, 80, 200])
def test_help_fits_the_terminal(kvscope, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = kvscope("--help").out.splitlines()
    assert max(map(len, lines)) <= columns


def test_the_version_is_that_of_the_project(kvscope):
    assert re.fullmatch(r"kvscope \d+\.\d+\.\d+\n", kvscope("--version").out)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_sentence_of_the_command_is_left_unused(lang):
    code = "".join(path.read_text(encoding="utf-8") for path in Path(app.cli.__file__).parent.glob("*.py"))
    made = ("cli.option.", "cli.about", "cli.counter.", "cli.setup.", "cli.run.title.", "cli.run.summary.")
    made += ("cli.error.value_", "cli.experiment.")
    keys = [key for key in catalogue(lang) if key.startswith("cli.") and not key.startswith(made)]
    assert [key for key in keys if f'"{key}"' not in code and f"'{key}'" not in code] == []
