"""Every language says the same, with the same fields."""

import re

import pytest

from app.backend.texts import LANGUAGES
from app.frontend.page import page_texts

FIELD = re.compile(r"\{(\w+)(?:\|[^{}]*)?\}")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_language_has_every_text_with_the_same_fields(lang):
    english, other = page_texts("en"), page_texts(lang)
    assert other.keys() == english.keys()
    for key, template in english.items():
        assert set(FIELD.findall(other[key])) == set(FIELD.findall(template)), key


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_text_is_empty_or_padded(lang):
    assert [
        key for key, template in page_texts(lang).items() if template != template.strip() or not template
    ] == []
