"""How serving engines decide a step: each a small frozen choice among the same parts, listed in RULES.

                    classic             vllm-v1                  vllm-v0
step                decodes, then       whoever runs catches up  prompts only, if any can start;
                    admissions          under a token budget     else decodes, then swap in
prompt              whole               in chunks                whole
victim              latest arrival      last of the running      latest arrival
victim comes back   as configured       computed again           again if single, swapped if a group
can never fit       rejected on arrival waits for ever, and      rejected when its turn comes
                                        is told of
"""

from dataclasses import dataclass

REJECTIONS = ("on_arrival", "on_turn", "never")


@dataclass(frozen=True, slots=True)
class Rules:
    """What tells one engine's scheduler from another's.

    Attributes:
        victim: one of policies.VICTIM, where the queue is first come, first served.
        prompts_first: a step that can start a prompt computes prompts only; swapped groups keep new prompts
            out, and come back in a step that preempted nobody.
        chunked: a prompt is computed in pieces where a token budget asks for it.
        spare_block: to go on, a group needs a free block for each of its sequences, needed or not.
        groups_swap: a preempted request of several sequences is swapped, one of a single sequence computed
            again, whatever is configured. None: as configured; False: always computed again.
        reject: when a request that does not fit into the pool is turned away, one of REJECTIONS.
        empty_watermark: whether an admission must leave the watermark free even while nobody runs.
        ends_at_self: whether nobody else is scheduled once a running request has preempted itself.
        null_block: block 0 is never handed out.
        watermark: share of the blocks, unless another is configured.
    """

    victim: str = "latest_arrival"
    prompts_first: bool = False
    chunked: bool = False
    spare_block: bool = False
    groups_swap: bool | None = None
    reject: str = "on_arrival"
    empty_watermark: bool = False
    ends_at_self: bool = False
    null_block: bool = False
    watermark: float = 0.01


CLASSIC = Rules()

RULES: dict[str, Rules] = {
    "classic": CLASSIC,
    "vllm-v1": Rules(
        victim="last_running",
        chunked=True,
        groups_swap=False,
        reject="never",
        ends_at_self=True,
        null_block=True,
        watermark=0.0,
    ),
    "vllm-v0": Rules(
        prompts_first=True,
        spare_block=True,
        groups_swap=True,
        reject="on_turn",
        empty_watermark=True,
    ),
}
