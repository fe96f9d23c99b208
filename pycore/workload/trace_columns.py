"""Which columns of a trace file hold the prompt length, the output length and the arrival."""

from collections.abc import Sequence
from dataclasses import dataclass

# Names as `plain_name` makes them; the earlier wins where a file has several. They are those of the
# Azure LLM inference traces, BurstGPT, Mooncake, Qwen-Bailian, Vidur, LLMServingSim, vLLM and ShareGPT files.
PROMPT_NAMES = (
    "contexttokens",
    "prompttokens",
    "numprompttokens",
    "promptlen",
    "promptlength",
    "inputlength",
    "inputlen",
    "inputtokens",
    "inputtoks",
    "numinputtokens",
    "numprefilltokens",
    "prefilltokens",
    "requesttokens",
    "prompt",
    "input",
    "context",
)
OUTPUT_NAMES = (
    "generatedtokens",
    "completiontokens",
    "outputtokens",
    "numoutputtokens",
    "outputlen",
    "outputlength",
    "outputtoks",
    "numdecodetokens",
    "decodetokens",
    "responsetokens",
    "generationtokens",
    "completion",
    "response",
    "generated",
    "output",
)
# Name -> unit of its numbers; None where the name tells no unit.
ARRIVAL_UNITS: dict[str, str | None] = {
    "arrivalns": "ns",
    "arrivaltimens": "ns",
    "arrivalus": "us",
    "arrivalms": "ms",
    "arrivaltimems": "ms",
    "arrivals": "s",
    "arrivaltimes": "s",
    "timestampns": "ns",
    "timestampus": "us",
    "timestampms": "ms",
    "timestamps": "s",
    "arrivaltime": None,
    "arrivedat": None,
    "arrival": None,
    "timestamp": None,
    "time": None,
}
# What a problem says was looked for, in the spelling people use.
PROMPT_HINT = "prompt_tokens | input_length | ContextTokens | num_prefill_tokens"
OUTPUT_HINT = "output_tokens | output_length | GeneratedTokens | num_decode_tokens"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns a file's rows are read from, spelled as in the file.

    Attributes:
        prompt: column of the prompt length, in tokens.
        output: column of the output length, in tokens.
        arrival: column of the arrival, or None: everything arrives at 0.
        unit: unit of the arrival where the column's name tells it (ns, us, ms, s), or None.
    """

    prompt: str
    output: str
    arrival: str | None
    unit: str | None


class MissingColumnError(LookupError):
    """No column of that role. Its arguments: the problem's code, and the names looked for."""


def plain_name(name: str) -> str:
    """A column name without case, spaces and signs.

    >>> plain_name(" Request tokens"), plain_name("ContextTokens"), plain_name("arrival_s")
    ('requesttokens', 'contexttokens', 'arrivals')
    """
    return "".join(c for c in name.casefold() if c.isalnum())


def find_columns(names: Sequence[str]) -> Columns:
    """Finds the columns among a header's names, or an object's keys.

    >>> find_columns(["arrival_ms", "Model", "Request tokens", "Response tokens"])
    Columns(prompt='Request tokens', output='Response tokens', arrival='arrival_ms', unit='ms')

    Raises:
        MissingColumnError: none of the names is known as a prompt's, or as an output's, length.
    """
    spelled: dict[str, str] = {}
    for name in names:
        spelled.setdefault(plain_name(name), name)
    prompt = next((spelled[plain] for plain in PROMPT_NAMES if plain in spelled), None)
    if prompt is None:
        raise MissingColumnError("no_prompt_column", PROMPT_HINT)
    output = next((spelled[plain] for plain in OUTPUT_NAMES if plain in spelled), None)
    if output is None:
        raise MissingColumnError("no_output_column", OUTPUT_HINT)
    arrival = next((plain for plain in ARRIVAL_UNITS if plain in spelled), None)
    if arrival is None:
        return Columns(prompt, output, None, None)
    return Columns(prompt, output, spelled[arrival], ARRIVAL_UNITS[arrival])


def is_azure(names: Sequence[str]) -> bool:
    """Whether a header is that of the Azure LLM inference traces (2023 and 2024)."""
    return [plain_name(name) for name in names] == ["timestamp", "contexttokens", "generatedtokens"]
