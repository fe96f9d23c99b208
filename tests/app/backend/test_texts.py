"""Both languages say the same things with the same fields."""

import re

import pytest

from app.backend.handle import Handler
from app.backend.texts import LANGUAGES, catalogue, sentences, text

FIELD = re.compile(r"\{(\w+)")


def test_both_languages_have_the_same_keys():
    assert catalogue("en").keys() == catalogue("zh").keys()


def test_both_languages_use_the_same_fields():
    for key, english in catalogue("en").items():
        assert set(FIELD.findall(english)) == set(FIELD.findall(catalogue("zh")[key])), key


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_sentence_is_empty(lang):
    for key, template in catalogue(lang).items():
        assert template.strip(), key


def test_a_missing_key_or_field_is_an_error():
    with pytest.raises(KeyError):
        text("en", "no.such.key")
    with pytest.raises(KeyError):
        text("en", "event.Arrived", seq="r1")


def test_a_phrase_is_said_in_its_language():
    places = {"en": {"places": "block 5"}, "zh": {"places": "块 5"}}
    said = sentences("event.BlocksAllocated.first", {"seq": "r1", "free": 2}, places)
    assert said["en"] == "r1 got block 5. 2 blocks left free."
    assert "块 5" in said["zh"]


def test_runs_and_what_is_wrong_with_them_are_told_without_the_other_catalogues(monkeypatch):
    def fetch(lang):
        raise AssertionError(f"all texts in {lang} were asked for")

    monkeypatch.setattr("app.backend.texts.catalogue", fetch)
    for settings in ({}, {"mode": "contiguous", "bs": 10**6}, {"cache": "radix", "rules": "vllm-v1"}):
        response = Handler().handle({"kind": "simulate", "settings": {"steps": 5, **settings}})
        assert response["sources"]["recording"]["events"]
    assert Handler().handle({"kind": "simulated"})["error"]["zh"]
