"""Our memory does what the cache manager of vLLM V1 did, block for block (cases V)."""

import pytest

from pycore.memory.block_pool import BlockPool
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.prefix_cache.block_hash import sha256_cbor_key
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Prompt
from tests.pycore.golden_engines.block_replay import BlockReplay, vllm_v1
from tests.pycore.golden_engines.cases import case, cases

HASH_CASES = ("V20",)  # of keys alone; all others are operations


def state(replay: BlockReplay) -> dict:
    """What each result of a case shows besides the answer to the operation."""
    memory = replay.memory
    caches = isinstance(memory, PrefixCachingAllocator)
    return {
        "free_queue": free_blocks(memory.pool),
        "cached_blocks": memory.pool.chain.blocks() if caches else [],
        "ref_counts": {str(block): count for block, count in replay.held_blocks().items()},
        "usage": round(memory.usage, 6),
    }


def free_blocks(pool: BlockPool) -> list[int]:
    """In the order in which they will be handed out."""
    free = list(pool._free)
    return free if hasattr(pool, "chain") else free[::-1]  # a stack is listed from the bottom


@pytest.mark.parametrize("golden", cases("V", but=HASH_CASES))
def test_every_operation_leaves_what_the_engine_left(golden):
    replay = vllm_v1(golden["input"])
    for operation, expected in zip(golden["input"]["ops"], golden["result"], strict=True):
        ours = {"op": operation[:2], **replay.carry_out(operation), **state(replay)}
        assert {key: ours.get(key) for key in expected} == expected, operation


@pytest.mark.parametrize("golden", cases("V", but=HASH_CASES))
def test_hits_are_counted_as_the_engine_counted_them(golden):
    replay = vllm_v1(golden["input"])
    for operation in golden["input"]["ops"]:
        replay.carry_out(operation)
    stats = getattr(replay.memory, "stats", None)
    ours = {name: getattr(stats, name, 0) for name in golden["stats"]}
    assert ours == golden["stats"]


@pytest.mark.parametrize("id", HASH_CASES)
def test_sha256_over_cbor_gives_the_keys_that_the_engine_gave(id):
    golden = case(id)
    chain = HashChain(golden["input"]["block_size"], sha256_cbor_key)
    ours = []
    for tokens in golden["input"]["prompts"]:
        keys: list[bytes] = []
        chain.extend(keys, tokens, Prompt(tuple(tokens)))
        ours.append([key.hex() for key in keys])
    assert ours == golden["result"]["hashes"]
