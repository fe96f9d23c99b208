"""Loads made from a seed, sized for a pool that one can see: 64 blocks of 4 tokens."""

from collections.abc import Callable, Iterator
from itertools import islice

from pycore.request import DECODINGS, Request
from pycore.rng import Rng
from pycore.workload.load import Load, bursts
from pycore.workload.lognormal import Lengths, lognormal
from pycore.workload.poisson import SHAREGPT
from pycore.workload.prefix_loads import chats, shared_prompts


def _load(lengths: list[tuple[int, int]], arrival_steps: list[int], step_ns: int, max_len: int) -> Load:
    """Pairs (prompt, output) with arrival steps, both in order of arrival."""
    pairs = zip(arrival_steps, lengths, strict=True)
    requests = (Request(i, step * step_ns, *length) for i, (step, length) in enumerate(pairs))
    return Load(tuple(requests), max_len)


def _groups(
    lengths: list[tuple[int, int]],
    arrival_steps: list[int],
    groups: list[tuple[int, str]],
    step_ns: int,
    max_len: int,
) -> Load:
    """The same, each request with its number of sequences and its decoding."""
    rows = zip(arrival_steps, lengths, groups, strict=True)
    requests = (Request(i, step * step_ns, *length, *group) for i, (step, length, group) in enumerate(rows))
    return Load(tuple(requests), max_len)


def chat_burst(seed: int, step_ns: int) -> Load:
    """Mostly short generations with a few long ones, in bursts (the load of the page, facts section 2).

    72 requests of 4–20 prompt tokens; 5 of 6 generate 4–16 tokens, 1 of 6 generates 28–44. 16 are there at
    once; 3–6 more come every 4–8 steps.
    """
    rng = Rng(seed)
    lengths, kind = rng.fork("lengths"), rng.fork("kind")
    pairs = []
    for long in kind.choices((True, False), (1, 5), 72):
        prompt = lengths.randrange(4, 21)
        pairs.append((prompt, lengths.randrange(28, 45) if long else lengths.randrange(4, 17)))
    return _load(pairs, bursts(rng.fork("arrivals"), 72, 16, (3, 6), (4, 8)), step_ns, max_len=64)


def uniform(seed: int, step_ns: int) -> Load:
    """48 requests, prompt 4–24 and output 4–24 tokens, each length as likely; one every 0–4 steps."""
    rng = Rng(seed)
    lengths = rng.fork("lengths")
    pairs = [(lengths.randrange(4, 25), lengths.randrange(4, 25)) for _ in range(48)]
    return _load(pairs, bursts(rng.fork("arrivals"), 48, 8, (1, 1), (0, 4)), step_ns, max_len=48)


def long_tail(seed: int, step_ns: int) -> Load:
    """48 requests whose output lengths have a heavy tail: lognormal, median 9, σ 0.9, clipped to 2–96."""
    rng = Rng(seed)
    lengths = rng.fork("lengths")
    pairs = []
    for _ in range(48):
        prompt = lengths.randrange(4, 25)
        pairs.append((prompt, min(96, max(2, lognormal(lengths, 9, 0.9)))))
    return _load(pairs, bursts(rng.fork("arrivals"), 48, 12, (1, 3), (1, 5)), step_ns, max_len=120)


def three_requests(seed: int, step_ns: int) -> Load:
    """Three requests that hold ten tokens after the first step, then a fourth (facts section 2).

    With at most 12 tokens a request, Orca Max reserves 36 slots for the ten tokens. The seed has no effect.
    """
    return _load([(5, 7), (3, 6), (2, 5), (4, 4)], [0, 0, 0, 1], step_ns, max_len=12)


def parallel_chat(seed: int, step_ns: int) -> Load:
    """32 requests that want 4 samples each of 6–24 tokens, of prompts of 9–24; 1–3 come every 4–8 steps."""
    return _same_groups(seed, step_ns, 4, "parallel")


def beam(seed: int, step_ns: int) -> Load:
    """32 beam searches of width 4 with the same lengths and arrivals as `parallel_chat`."""
    return _same_groups(seed, step_ns, 4, "beam")


def _same_groups(seed: int, step_ns: int, num_seqs: int, decoding: str) -> Load:
    rng = Rng(seed)
    lengths = rng.fork("lengths")
    pairs = [(lengths.randrange(9, 25), lengths.randrange(6, 25)) for _ in range(32)]
    steps = bursts(rng.fork("arrivals"), 32, 6, (1, 3), (4, 8))
    return _groups(pairs, steps, [(num_seqs, decoding)] * 32, step_ns, max_len=48)


def system_prompt(seed: int, step_ns: int) -> Load:
    """72 chats, 5 of 6 behind a system prompt of 22 tokens that the operator keeps in memory.

    A question of 3–14 tokens, an answer of 4–24; 16 are there at once, 3–6 more come every 4–8 steps. The
    prefix ends in the middle of a block of 4, and that block is copied on write.
    """
    rng = Rng(seed)
    lengths = rng.fork("lengths")
    behind = rng.fork("kind").choices((22, 0), (5, 1), 72)
    steps = bursts(rng.fork("arrivals"), 72, 16, (3, 6), (4, 8))
    requests = []
    for i, (prefix, step) in enumerate(zip(behind, steps, strict=True)):
        question, answer = lengths.randrange(3, 15), lengths.randrange(4, 25)
        requests.append(Request(i, step * step_ns, prefix + question, answer, shared_prefix=prefix))
    return Load(tuple(requests), max_len=60, prefix_len=22)


def mixed_decoding(seed: int, step_ns: int) -> Load:
    """56 requests in one queue: of 6, 4 plain, 1 of 2–4 parallel samples, 1 beam search of width 4.

    Prompts of 5–20 tokens, outputs of 6–24; 12 are there at once, 2–5 more come every 4–8 steps.
    """
    rng = Rng(seed)
    lengths, kind, samples = rng.fork("lengths"), rng.fork("kind"), rng.fork("samples")
    groups = [
        ({"plain": 1, "parallel": samples.randrange(2, 5), "beam": 4}[decoding], decoding)
        for decoding in kind.choices(DECODINGS, (4, 1, 1), 56)
    ]
    pairs = [(lengths.randrange(5, 21), lengths.randrange(6, 25)) for _ in groups]
    steps = bursts(rng.fork("arrivals"), 56, 12, (2, 5), (4, 8))
    return _groups(pairs, steps, groups, step_ns, max_len=44)


def lognormal_lengths(seed: int, num: int, mean: int, sigma: float) -> list[int]:
    """`num` lengths of at least 1 token, lognormal with `mean` tokens and shape `sigma`."""
    return list(islice(endless_lognormal_lengths(seed, mean, sigma), num))


def endless_lognormal_lengths(seed: int, mean: int, sigma: float) -> Iterator[int]:
    """The same lengths one at a time, without end."""
    rng = Rng(seed).fork("lengths")
    lengths = Lengths(mean, sigma)
    while True:
        yield lengths.draw(rng)


def sharegpt_like(seed: int, num: int, rate: int) -> Load:
    """Chats as skewed as ShareGPT's, `rate` of them a second: the load of facts W3 and section 7.

    >>> load = sharegpt_like(5, 1000, rate=4)
    >>> len(load.requests), load.max_len, load.requests[-1].arrival_ns // 10**9
    (1000, 2048, 250)
    """
    return Load(tuple(SHAREGPT.requests(seed, num, rate)), SHAREGPT.max_len)


LOADS: dict[str, Callable[[int, int], Load]] = {
    "chat_burst": chat_burst,
    "uniform": uniform,
    "long_tail": long_tail,
    "three_requests": three_requests,
    "parallel_chat": parallel_chat,
    "beam": beam,
    "system_prompt": system_prompt,
    "mixed_decoding": mixed_decoding,
    "shared_prompts": shared_prompts,
    "chats": chats,
}
