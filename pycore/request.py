"""What was asked (Request) and how far it got (Sequence).

A request may want several sequences: parallel samples of one prompt, or the beams of a search. They form a
group, which is scheduled, preempted and recovered together (vLLM paper, section 4.5).
"""

from dataclasses import dataclass, field
from enum import Enum

from pycore.block_tokens import BlockTokens, GrowingTokens
from pycore.prompt import Prompt

DECODINGS = ("plain", "parallel", "beam")
MAX_NUM_SEQS = 16  # sequences a request: samples, or the width of a beam search

# In a memory map, the holder of the prefix that the operator keeps in memory; no sequence has this id.
PREFIX_ID = (1 << 40) - 1
# The same for the null block, which vLLM V1 never hands out.
NULL_ID = (1 << 40) - 2
NO_SEQUENCES = frozenset((PREFIX_ID, NULL_ID))  # holders that are no sequences
# Sequences that a fork makes are numbered from here on, in order of creation; no request has such an id.
FIRST_FORKED_ID = 1 << 40


@dataclass(frozen=True, slots=True)
class Request:
    """One generation request, as it arrives.

    Attributes:
        id: position in order of arrival; also its name, `r<id>`.
        arrival_ns: arrival time in ns from the start of the run.
        prompt_len: prompt tokens, at least 1.
        output_len: tokens it will generate, at least 1. The engine does not act on it before the last
            token is out; Oracle and Pow2 reservation and the waste account are allowed to know it.
        num_seqs: sequences it generates, 1 to MAX_NUM_SEQS: n of parallel sampling, width of a beam search.
        decoding: one of DECODINGS.
        shared_prefix: leading prompt tokens that are the prefix which the operator keeps in memory, else 0.
        prompt: what the prompt says; None where tokens are only counted, and then none of it is ever found
            in a prefix cache.
        answer: what a request of one sequence generates, where its load knows it; None: it does not matter.
        priority: the smaller, the more important; only some rules look at it.

    Raises:
        ValueError: a length below 1, an arrival before 0, a number of sequences out of range or one that does
            not go with the decoding, a prefix longer than the prompt, or a prompt of another length.
    """

    id: int
    arrival_ns: int
    prompt_len: int
    output_len: int
    num_seqs: int = 1
    decoding: str = "plain"
    shared_prefix: int = 0
    prompt: Prompt | None = field(default=None, repr=False)
    priority: int = 0
    answer: tuple[int, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.prompt_len < 1 or self.output_len < 1 or self.arrival_ns < 0:
            raise ValueError(
                f"request {self.id}: prompt {self.prompt_len} and output {self.output_len} must be at least "
                f"1 token, arrival {self.arrival_ns} ns at least 0"
            )
        if self.decoding not in DECODINGS:
            raise ValueError(f"request {self.id}: {self.decoding} decoding, expected one of {DECODINGS}")
        most = 1 if self.decoding == "plain" else MAX_NUM_SEQS
        if not 1 <= self.num_seqs <= most:
            raise ValueError(
                f"request {self.id}: {self.num_seqs} sequences by {self.decoding} decoding, "
                f"expected 1 to {most}"
            )
        if not 0 <= self.shared_prefix <= self.prompt_len:
            raise ValueError(
                f"request {self.id}: a shared prefix of {self.shared_prefix} tokens, "
                f"expected 0 to {self.prompt_len}"
            )
        if self.prompt is not None and len(self.prompt.tokens) != self.prompt_len:
            raise ValueError(
                f"request {self.id}: {len(self.prompt.tokens)} tokens in a prompt of {self.prompt_len}"
            )
        if self.answer is not None and (len(self.answer) != self.output_len or self.num_seqs > 1):
            raise ValueError(
                f"request {self.id}: an answer of {len(self.answer)} tokens to {self.num_seqs} sequences of "
                f"{self.output_len}, expected 1 sequence of that length"
            )

    @property
    def total_len(self) -> int:
        """Prompt plus output, in tokens."""
        return self.prompt_len + self.output_len

    @property
    def kv_len(self) -> int:
        """KV slots written by the time it finishes: the last output token is never fed back."""
        return self.prompt_len + self.output_len - 1


class Status(Enum):
    """Where a sequence is in its life."""

    WAITING = "waiting"
    RUNNING = "running"
    SWAPPED = "swapped"
    FINISHED = "finished"
    DROPPED = "dropped"
    REJECTED = "rejected"


def _growing(prompt: Prompt | None) -> "list[int] | GrowingTokens | None":
    """What the prompt says, to be appended to."""
    if prompt is None:
        return None
    tokens = prompt.tokens
    return GrowingTokens(tokens) if isinstance(tokens, BlockTokens) else list(tokens)


class Sequence:
    """One sequence of a request in the engine.

    Attributes:
        request: what was asked.
        id: the request's id for its first sequence, from FIRST_FORKED_ID on for the others.
        total_len: the request's prompt plus output tokens.
        sample: which of the request's sequences it is, from 0 in order of creation.
        group: the request's sequences that are alive, itself among them, in order of creation.
        tokens: token ids known so far where the prompt says them or a real model runs, else None: most runs
            count tokens only.
        block_keys: of its full blocks so far, where a prefix cache needs them (see prefix_cache.hash_chain).
        num_tokens: tokens known so far, prompt and generated.
        num_computed: of those, how many have their KV in memory; 0 after a preemption by recompute.
        status: see `Status`.
        preemptions: how often it was preempted.
        num_recomputed, num_swapped: tokens of its group whose KV was lost and computed again, or moved to CPU
            memory.
        admitted_ns, first_token_ns, finished_ns: times in ns, None until they happen; admitted_ns is the
            first admission.
    """

    __slots__ = (
        "admitted_ns",
        "block_keys",
        "finished_ns",
        "first_token_ns",
        "group",
        "id",
        "num_computed",
        "num_recomputed",
        "num_swapped",
        "num_tokens",
        "preemptions",
        "request",
        "sample",
        "status",
        "tokens",
        "total_len",
    )

    def __init__(self, request: Request) -> None:
        self.request = request
        self.id = request.id
        self.total_len = request.total_len
        self.sample = 0
        self.group = [self]
        self.tokens = _growing(request.prompt)
        self.block_keys: list[bytes] = []
        self.num_tokens = request.prompt_len
        self.num_computed = 0
        self.status = Status.WAITING
        self.preemptions = 0
        self.num_recomputed = 0
        self.num_swapped = 0
        self.admitted_ns: int | None = None
        self.first_token_ns: int | None = None
        self.finished_ns: int | None = None

    def fork(self, id: int, sample: int) -> "Sequence":
        """A sequence of the same request that has come as far as this one; joins the group."""
        child = Sequence(self.request)
        child.id = id
        child.sample = sample
        child.tokens = None if self.tokens is None else list(self.tokens)
        child.block_keys = list(self.block_keys)
        child.num_tokens = self.num_tokens
        child.num_computed = self.num_computed
        child.status = self.status
        child.preemptions = self.preemptions
        child.num_recomputed = self.num_recomputed
        child.num_swapped = self.num_swapped
        child.admitted_ns = self.admitted_ns
        child.first_token_ns = self.first_token_ns
        child.group = self.group
        self.group.append(child)
        return child

    @property
    def name(self) -> str:
        """How it is shown: `r5`, or `r5.2` for a further sequence of r5."""
        return f"r{self.request.id}.{self.sample}" if self.sample else f"r{self.request.id}"

    def __repr__(self) -> str:
        return f"<{self.name} {self.status.value} {self.num_computed}/{self.num_tokens} tokens>"

    @property
    def num_generated(self) -> int:
        """Output tokens so far."""
        return self.num_tokens - self.request.prompt_len

    @property
    def num_uncomputed(self) -> int:
        """Tokens whose KV the next forward pass has to write."""
        return self.num_tokens - self.num_computed
