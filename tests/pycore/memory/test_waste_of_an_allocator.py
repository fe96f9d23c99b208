from itertools import product

import pytest

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig
from pycore.events import NullLog
from pycore.memory.contiguous import RESERVATIONS
from pycore.memory.placement import PLACEMENTS
from pycore.memory.waste import account
from pycore.workload.synthetic import LOADS

WAYS = [
    MemoryConfig(),
    *(
        MemoryConfig(mode="contiguous", reservation=reservation, placement=placement)
        for reservation, placement in product(RESERVATIONS, PLACEMENTS)
    ),
]


@pytest.mark.parametrize("memory", WAYS, ids=lambda way: f"{way.mode}-{way.reservation}-{way.placement}")
def test_an_allocator_accounts_for_its_slots_as_its_memory_map_does(memory):
    config = EngineConfig(memory=memory, max_len=64)
    engine = build_engine(config, LOADS["chat_burst"](5, config.step_ns).requests, NullLog())
    for _ in range(90):
        engine.step()
        for demand in (0, engine.scheduler.demand, 100):
            assert engine.allocator.waste(demand) == account(engine.allocator.memory_map(), demand)
