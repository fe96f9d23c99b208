"""The loads of the benchmarks, made small: they still drive the memory as the engine does."""

import pytest

from benchmarks import pool, sharing
from pycore.memory.free_list import FREE_ORDERS


@pytest.mark.parametrize("order", sorted(FREE_ORDERS))
def test_the_decode_load_leaves_the_pool_as_it_was(order):
    work = pool.our_decode(order, num_seqs=3, num_steps=20, block_size=4, prompt_len=5)
    work()
    work()  # fails unless all blocks are free again


@pytest.mark.parametrize("load", sorted(sharing.LOADS))
def test_the_sharing_loads_can_be_repeated(monkeypatch, load):
    for name in ("NUM", "FORKS", "AT_ONCE"):
        monkeypatch.setattr(sharing, name, 10)
    prepare, _ = sharing.LOADS[load]
    work = prepare()
    work()
    work()
