"""What a prompt may say."""

import pytest

from pycore.prompt import Media, Prompt
from pycore.request import Request, Sequence


@pytest.mark.parametrize("token", ["7", 1.5, None, 1 << 63])
def test_a_token_that_is_no_integer_of_64_bits_is_named(token):
    with pytest.raises(ValueError, match=r"a token of a prompt is .*, expected an integer of 64 bits"):
        Prompt((1, token, 2))


@pytest.mark.parametrize("field", ["salt", "adapter"])
@pytest.mark.parametrize("value", [7, b"a", ("a",), 0, False])
def test_a_salt_or_adapter_of_another_type_is_named(field, value):
    with pytest.raises(ValueError, match=f"the {field} of a prompt is .*, expected a text or none"):
        Prompt((1, 2), **{field: value})


@pytest.mark.parametrize("media", [Media(-1, 2, "a"), Media(0, 0, "a"), Media(0, 1, 7), Media("0", 1, "a")])
def test_media_that_lie_nowhere_are_refused(media):
    with pytest.raises(ValueError, match="expected a text for the content"):
        Prompt((1, 2), media=(media,))


def test_a_prompt_of_another_length_than_the_request_is_refused():
    with pytest.raises(ValueError, match="request 3: 2 tokens in a prompt of 5"):
        Request(3, 0, 5, 1, prompt=Prompt((1, 2)))


def test_a_sequence_knows_its_tokens_where_the_prompt_says_them():
    assert Sequence(Request(0, 0, 2, 1, prompt=Prompt((8, 9)))).tokens == [8, 9]
    assert Sequence(Request(0, 0, 2, 1)).tokens is None


def test_an_empty_salt_is_none():
    assert Prompt((1, 2), salt="") == Prompt((1, 2))
    assert Prompt((1, 2), salt="").is_plain
