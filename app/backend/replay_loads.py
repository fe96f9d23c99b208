"""Loads that can be replayed without a file: each of another kind, and endless."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from pycore.request import Request
from pycore.rng import Rng
from pycore.workload.block_chats import block_chats
from pycore.workload.poisson import LONG_PROMPTS, SHAREGPT, arrivals

# Requests a second: what keeps the default deployment busy, yet can be served.
CHAT_RATE, LONG_RATE, SHARED_RATE = 8, 3, 50


def chat(seed: int, num: int) -> Iterator[Request]:
    """Single questions and answers, as long as ShareGPT's."""
    return SHAREGPT.requests(seed, num, CHAT_RATE)


def long_prompts(seed: int, num: int) -> Iterator[Request]:
    """Prompts of 2,048 tokens on average, of which memory is soon full."""
    return LONG_PROMPTS.requests(seed, num, LONG_RATE)


def shared_prompts(seed: int, num: int) -> Iterator[Request]:
    """Chats of some turns, which share system prompts and what was said before."""
    times = arrivals(Rng(seed).fork("arrivals"), SHARED_RATE)
    for request, now_ns in zip(block_chats(seed, num), times, strict=False):
        yield replace(request, arrival_ns=now_ns)


# name → (seed, number of requests) → requests in order of arrival
BUILT_IN: dict[str, Callable[[int, int], Iterator[Request]]] = {
    "chat": chat,
    "long": long_prompts,
    "shared": shared_prompts,
}
MOST_REQUESTS = 100_000  # of a load: all of an endless one
