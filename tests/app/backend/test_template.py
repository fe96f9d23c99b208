"""Fields in sentences: numbers, nouns, and text that stays text."""

import pytest

from app.backend.template import Template, as_shown


def filled(template: str, **fields: object) -> str:
    return Template(template).fill(fields, as_shown(fields))


def test_plural_forms_follow_the_number():
    assert filled("{n|block|blocks} free", n=1) == "1 block free"
    assert filled("{n|block|blocks} free", n=0) == "0 blocks free"
    assert filled("{n|block|blocks} free", n=9508) == "9,508 blocks free"


def test_the_same_number_takes_the_noun_of_each_place():
    assert filled("{n|block|blocks}, {n} in all, {n|is|are} free", n=1) == "1 block, 1 in all, 1 is free"


@pytest.mark.parametrize(
    ("value", "words"),
    [(999, "999"), (1000, "1,000"), (-12, "-12"), (-1234, "-1,234"), (0.5, "0.5"), ("r5", "r5")],
)
def test_numbers_have_commas_from_a_thousand_on(value, words):
    assert filled("{value}", value=value) == words


def test_a_noun_that_is_empty_leaves_no_blank():
    assert filled("{n||s}.", n=1) == "1."


def test_a_template_can_be_filled_again():
    template = Template("{n|block|blocks}")
    assert [template.fill({"n": n}, as_shown({"n": n})) for n in (1, 2)] == ["1 block", "2 blocks"]


@pytest.mark.parametrize("words", ["no field", "100 % of it", "%s and %d", ""])
def test_words_without_a_field_stay_as_they_are(words):
    assert filled(words) == words
    assert filled(words + "{n}", n=2) == words + "2"


def test_markup_in_a_field_stays_text():
    assert filled("{value}", value="<script>{n}") == "<script>{n}"


@pytest.mark.parametrize("template", ["{n}", "{n|block|blocks}"])
def test_a_missing_field_is_an_error(template):
    with pytest.raises(KeyError, match="n"):
        filled(template, m=1)
