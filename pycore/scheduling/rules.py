"""How serving engines decide a step: each a small frozen choice among the same parts, listed in RULES.

              classic             vllm-v1              vllm-v0                sglang
step          decodes, then       whoever runs         prompts only, if any   prompts only, if any
              admissions          catches up under     can start; else        can start; else decodes
                                  a token budget       decodes, then swap in
prompt        whole               in chunks            whole                  in chunks
victim        latest arrival      last of the running  latest arrival         fewest outputs, then
                                                                              longest prompt
comes back    as configured       computed again       again if single,       computed again
                                                       swapped if a group
waits         in front            in front             in front               at the back
leaves free   watermark           watermark            watermark              a share of the tokens to come
can never     rejected on         waits for ever,      rejected when its      rejected on arrival
fit           arrival             and is told of       turn comes

`prefill-first` and `chunked` are classic but for the step: prompts only, if any can start, and prompts in
chunks under a token budget, beside the decodes. They and classic go with contiguous memory too.
"""

from dataclasses import dataclass, replace

from pycore.scheduling.policies import QUEUE
from pycore.scheduling.queue_order import ADMISSION

REJECTIONS = ("on_arrival", "on_turn", "never")


@dataclass(frozen=True, slots=True)
class Rules:
    """What tells one engine's scheduler from another's.

    Attributes:
        victim: one of policies.VICTIM, where the queue is first come, first served.
        prompts_first: a step that can start a prompt computes prompts only; swapped groups keep new prompts
            out, and come back in a step that preempted nobody.
        chunked: a prompt is computed in pieces where a token budget asks for it.
        by_arrival: those that run decode in order of arrival, not of admission.
        spare_block: to go on, a group needs a free block for each of its sequences, needed or not.
        groups_swap: a preempted request of several sequences is swapped, one of a single sequence computed
            again, whatever is configured. None: as configured; False: always computed again.
        reject: when a request that does not fit into the pool is turned away, one of REJECTIONS.
        empty_watermark: whether an admission must leave the watermark free even while nobody runs.
        ends_at_self: whether nobody else is scheduled once a running request has preempted itself, unless
            the queue goes by rank: then those behind it may be of higher priority.
        preempted_to_back: a preempted request waits behind all others, not in front of them.
        sets_aside: an admission leaves a share of the tokens to come free, see retraction.SetAside.
        queues: orders of the queue that go with it, of policies.QUEUE or queue_order.ADMISSION.
        caches: prefix caches that go with it.
        null_block: block 0 is never handed out.
        contiguous: whether it goes with contiguous memory.
        watermark: share of the blocks, unless another is configured.
    """

    victim: str = "latest_arrival"
    prompts_first: bool = False
    by_arrival: bool = False
    chunked: bool = False
    spare_block: bool = False
    groups_swap: bool | None = None
    reject: str = "on_arrival"
    empty_watermark: bool = False
    ends_at_self: bool = False
    preempted_to_back: bool = False
    sets_aside: bool = False
    queues: tuple[str, ...] = ("fcfs",)
    caches: tuple[str, ...] = ("none", "hash_chain", "radix")
    null_block: bool = False
    contiguous: bool = False
    watermark: float = 0.01


ALL_QUEUES = tuple(dict.fromkeys((*QUEUE, *ADMISSION)))
CLASSIC = Rules(queues=ALL_QUEUES, contiguous=True)

RULES: dict[str, Rules] = {
    "classic": CLASSIC,
    "prefill-first": replace(CLASSIC, prompts_first=True),
    "chunked": replace(CLASSIC, chunked=True),
    "vllm-v1": Rules(
        victim="last_running",
        chunked=True,
        groups_swap=False,
        reject="never",
        ends_at_self=True,
        null_block=True,
        watermark=0.0,
        queues=("fcfs", "priority"),
        caches=("none", "hash_chain"),
    ),
    "vllm-v0": Rules(
        prompts_first=True,
        by_arrival=True,
        spare_block=True,
        groups_swap=True,
        reject="on_turn",
        empty_watermark=True,
    ),
    "sglang": Rules(
        victim="fewest_outputs",
        prompts_first=True,
        chunked=True,
        groups_swap=False,
        preempted_to_back=True,
        sets_aside=True,
        queues=ALL_QUEUES,
        caches=("none", "radix"),
        watermark=0.0,
    ),
}
