"""Our memory, its options set as nano-vllm has them, does what nano-vllm did (cases N)."""

import pytest

from tests.pycore.golden_engines.block_replay import nano_vllm
from tests.pycore.golden_engines.cases import cases


@pytest.mark.parametrize("golden", cases("N"))
def test_every_operation_leaves_what_the_engine_left(golden):
    replay = nano_vllm(golden["input"])
    for operation, expected in zip(golden["input"]["ops"], golden["result"], strict=True):
        answer = replay.carry_out(operation)
        held = replay.held_blocks()
        ours = {
            "op": operation[:2],
            **answer,
            "refs": [held[block] for block in answer.get("table", ())],
            "free": list(replay.memory.pool._free),
            "used": sorted(held),
            "hashed": replay.memory.pool.chain.blocks(),
        }
        assert {key: ours.get(key) for key in expected} == expected, operation
