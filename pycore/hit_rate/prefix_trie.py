"""All prompts of a trace as paths in one tree of blocks, and when each block is wanted next.

request 0   a b c      node  1 2 3      a ─ b ─ c
request 1   a b d            1 2 4            └ d
request 2   a e              1 5        └ e
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pycore.block_tokens import BlockTokens
from pycore.request import Request

DEFAULT_BLOCK_SIZE = 16  # tokens, where a trace has the tokens themselves and no blocks


class NoPromptsError(ValueError):
    """The requests do not say what their prompts share."""


@dataclass(frozen=True, slots=True)
class PrefixTrie:
    """The blocks of each request, as nodes numbered from 1 on in order of their first use.

    A block is the same node only after the same blocks: what counts is the prefix that it ends. Tokens that
    no block stands for (behind the last full block, in traces that name full blocks only) are in no node,
    and never hit.

    Attributes:
        block_size: tokens a block.
        prompt_lens: tokens, by request.
        starts: the blocks of request i are `nodes[starts[i] : starts[i + 1]]`.
        nodes: by block of a request, parents before children.
        next_uses: by block of a request: the next request with this node, `num_requests` if there is none.
        parents: by node; 0 is the root.
    """

    block_size: int
    prompt_lens: array
    starts: array
    nodes: array
    next_uses: array
    parents: array

    @property
    def num_requests(self) -> int:
        """Prompts."""
        return len(self.prompt_lens)

    @property
    def num_nodes(self) -> int:
        """Different blocks."""
        return len(self.parents) - 1

    def tokens(self, request: int, num_blocks: int) -> int:
        """Tokens in the first blocks of a prompt: the last one weighs its remainder."""
        return min(num_blocks * self.block_size, self.prompt_lens[request])


def prefix_trie(requests: Sequence[Request], block_size: int = DEFAULT_BLOCK_SIZE) -> PrefixTrie:
    """The tree of the prompts of `requests`, in their order.

    Args:
        requests: at least one.
        block_size: into which tokens are cut; a trace that names blocks keeps its own.

    Raises:
        NoPromptsError: a request does not say what its prompt is, or the blocks differ in size.

    >>> from pycore.prompt import Prompt
    >>> prompts = [(7, 8, 9, 9), (7, 8, 9, 9, 5), (7, 8, 1, 2)]
    >>> trie = prefix_trie([Request(i, 0, len(p), 1, prompt=Prompt(p)) for i, p in enumerate(prompts)], 2)
    >>> list(trie.nodes), list(trie.next_uses), trie.num_nodes
    ([1, 2, 1, 2, 1, 3], [1, 1, 2, 3, 3, 3], 3)
    """
    first = requests[0].prompt
    if first is not None and isinstance(first.tokens, BlockTokens):
        block_size = first.tokens.block_size
    known: dict[bytes, int] = {}
    edges: dict[int, int] = {}
    parents, starts, nodes = array("q", [0]), array("q", [0]), array("q")
    for request in requests:
        parent = 0
        for block in _blocks(request, block_size, known):
            edge = parent << 40 | block
            node = edges.get(edge)
            if node is None:
                node = edges[edge] = len(parents)
                parents.append(parent)
            nodes.append(node)
            parent = node
        starts.append(len(nodes))
    lengths = array("q", [request.prompt_len for request in requests])
    return PrefixTrie(block_size, lengths, starts, nodes, _next_uses(starts, nodes, len(parents)), parents)


def _blocks(request: Request, block_size: int, known: dict[bytes, int]) -> Iterator[int]:
    """A number for each block of the prompt: equal blocks, equal numbers."""
    prompt = request.prompt
    if prompt is None or not prompt.is_plain:
        raise NoPromptsError(f"request {request.id} does not say what its prompt shares with others")
    tokens = prompt.tokens
    if isinstance(tokens, BlockTokens):
        if tokens.block_size != block_size:
            raise NoPromptsError(f"request {request.id} has blocks of {tokens.block_size}, not {block_size}")
        yield from tokens.ids
        return
    whole = array("q", tokens)
    for start in range(0, len(whole) - block_size + 1, block_size):
        yield known.setdefault(whole[start : start + block_size].tobytes(), len(known))


def _next_uses(starts: array, nodes: array, num_nodes: int) -> array:
    num_requests = len(starts) - 1
    next_uses = array("q", nodes)
    soonest = [num_requests] * num_nodes
    for request in range(num_requests - 1, -1, -1):
        span = range(starts[request], starts[request + 1])
        for at in span:
            next_uses[at] = soonest[nodes[at]]
        for at in span:
            soonest[nodes[at]] = request
    return next_uses
