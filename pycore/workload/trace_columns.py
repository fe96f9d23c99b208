"""Which columns of a trace file hold the prompt length, the output length, the arrival and token ids."""

from collections.abc import Collection, Mapping, Sequence
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
# Names of lists of token ids, whose length stands for a length that is told nowhere else.
PROMPT_ID_NAMES = (
    "prompttokenids",
    "inputtokenids",
    "inputtokids",
    "inputids",
    "promptids",
    "tokenids",
    "tokens",
)
OUTPUT_ID_NAMES = (
    "outputtokenids",
    "outputtokids",
    "outputids",
    "completiontokenids",
    "generatedtokenids",
    "responsetokenids",
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
        prompt_ids: column of the prompt's token ids, or None.
    """

    prompt: str
    output: str
    arrival: str | None
    unit: str | None
    prompt_ids: str | None = None


class MissingColumnError(LookupError):
    """No column of that role. Its arguments: the problem's code, and the names looked for."""


def plain_name(name: str) -> str:
    """A column name without case, spaces and signs.

    >>> plain_name(" Request tokens"), plain_name("ContextTokens"), plain_name("arrival_s")
    ('requesttokens', 'contexttokens', 'arrivals')
    """
    return "".join(c for c in name.casefold() if c.isalnum())


def find_columns(names: Sequence[str], lists: Collection[str] = ()) -> Columns:
    """Finds the columns among a header's names, or an object's keys.

    Args:
        names: as the file spells them.
        lists: those of them that hold a list.

    >>> columns = find_columns(["arrival_ms", "Model", "Request tokens", "Response tokens"])
    >>> columns.prompt, columns.output, columns.arrival, columns.unit
    ('Request tokens', 'Response tokens', 'arrival_ms', 'ms')
    >>> find_columns(["input_ids", "output_len"], lists=["input_ids"]).prompt_ids
    'input_ids'

    Raises:
        MissingColumnError: none of the names is known as a prompt's, or as an output's, length.
    """
    spelled: dict[str, str] = {}
    listed: dict[str, str] = {}
    for name in names:
        (listed if name in lists else spelled).setdefault(plain_name(name), name)
    prompt_ids = _first(listed, PROMPT_ID_NAMES + PROMPT_NAMES)
    prompt = _first(spelled, PROMPT_NAMES) or prompt_ids
    if prompt is None:
        raise MissingColumnError("no_prompt_column", PROMPT_HINT)
    output = _first(spelled, OUTPUT_NAMES) or _first(listed, OUTPUT_ID_NAMES + OUTPUT_NAMES)
    if output is None:
        raise MissingColumnError("no_output_column", OUTPUT_HINT)
    arrival = next((plain for plain in ARRIVAL_UNITS if plain in spelled), None)
    if arrival is None:
        return Columns(prompt, output, None, None, prompt_ids)
    return Columns(prompt, output, spelled[arrival], ARRIVAL_UNITS[arrival], prompt_ids)


def _first(spelled: Mapping[str, str], known: Sequence[str]) -> str | None:
    return next((spelled[plain] for plain in known if plain in spelled), None)


def is_azure(names: Sequence[str]) -> bool:
    """Whether a header is that of the Azure LLM inference traces (2023 and 2024)."""
    return [plain_name(name) for name in names] == ["timestamp", "contexttokens", "generatedtokens"]
