"""Requests that tell their prompts by ids of blocks: chats that go on, and documents read in a circle."""

from pycore.block_tokens import BlockTokens
from pycore.prompt import Prompt
from pycore.request import Request
from pycore.rng import Rng

BLOCK_SIZE = 16
SYSTEM_PROMPTS, SYSTEM_BLOCKS = 4, 3
OPEN_CHATS, TURNS = 24, (2, 6)  # at once; fewest and most a chat
NEW_BLOCKS = (2, 6)  # a turn adds, an answer before it included
OUTPUT_LEN = 32


class _Blocks:
    """Hands out ids that nobody had before."""

    def __init__(self) -> None:
        self._next = 0

    def new(self, count: int) -> list[int]:
        self._next += count
        return list(range(self._next - count, self._next))


def _request(id: int, blocks: list[int]) -> Request:
    length = len(blocks) * BLOCK_SIZE
    return Request(id, id, length, OUTPUT_LEN, prompt=Prompt(BlockTokens(blocks, BLOCK_SIZE, length, id)))


def block_chats(seed: int, num_requests: int, once_percent: int = 0) -> tuple[Request, ...]:
    """Chats of some turns, of which a few are open at a time: what was used lately is used again soon.

    The prompt of a turn is one of four system prompts, all that was said before, and what is new.

    Args:
        seed: of everything random.
        num_requests: turns in all.
        once_percent: percent of the requests that are no turn, but a long prompt that nobody asks again.

    >>> load = block_chats(5, 100)
    >>> len(load), load[0].prompt_len, max(request.prompt_len for request in load)
    (100, 96, 384)
    """
    rng = Rng(seed).fork("block_chats")
    blocks = _Blocks()
    systems = [blocks.new(SYSTEM_BLOCKS) for _ in range(SYSTEM_PROMPTS)]
    chats: list[tuple[list[int], int]] = []  # (its blocks so far, turns to come)
    requests = []
    for id in range(num_requests):
        if rng.randrange(100) < once_percent:
            requests.append(_request(id, blocks.new(SYSTEM_BLOCKS + 4 * NEW_BLOCKS[1])))
            continue
        if len(chats) < OPEN_CHATS:
            turns = rng.randrange(TURNS[0], TURNS[1] + 1)
            chats.append((list(systems[rng.randrange(SYSTEM_PROMPTS)]), turns))
        at = rng.randrange(len(chats))
        said, turns = chats[at]
        said = said + blocks.new(rng.randrange(NEW_BLOCKS[0], NEW_BLOCKS[1] + 1))
        requests.append(_request(id, said))
        if turns > 1:
            chats[at] = said, turns - 1
        else:
            del chats[at]
    return tuple(requests)


def block_circle(num_requests: int, num_documents: int, document_blocks: int = 8) -> tuple[Request, ...]:
    """The same documents in the same order again and again: what was used lately is used again last.

    >>> [request.prompt.tokens.ids[0] for request in block_circle(5, 3)]
    [0, 8, 16, 0, 8]
    """
    blocks = _Blocks()
    documents = [blocks.new(document_blocks) for _ in range(num_documents)]
    return tuple(_request(id, documents[id % num_documents]) for id in range(num_requests))
