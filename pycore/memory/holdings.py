"""What the block tables of a pool come to: its map, its waste, and whether tables and pool agree."""

from collections import Counter
from collections.abc import Collection
from itertools import chain

from pycore.memory.block_pool import BlockPool
from pycore.memory.block_table import BlockTable
from pycore.memory.memory_map import MemoryMap
from pycore.memory.waste import Waste, covered, tell_apart
from pycore.named_tuples import of_fields

Holders = dict[int, BlockTable]  # by holder: a sequence's id, or NULL_ID or PREFIX_ID


def map_of(holders: Holders, pool: BlockPool, block_size: int) -> MemoryMap:
    """The map of a pool of blocks of `block_size` slots."""
    tables = holders.values()
    num_free = pool.num_free
    free = (num_free - pool.num_cached) * block_size
    columns = (
        pool.num_blocks * block_size,
        block_size,
        tuple(holders),
        tuple([table.num_tokens for table in tables]),
        tuple([table.final_tokens for table in tables]),
        tuple([table.num_slots for table in tables]),
        tuple([table.frozen or table.as_tuple() for table in tables]),
        (pool.num_blocks - num_free) * block_size,
        (free,) if free else (),
        tuple(pool.cached()) if pool.num_cached else (),
    )
    return of_fields(MemoryMap, columns)


def waste_of(holders: Holders, pool: BlockPool, block_size: int, demand: int) -> Waste:
    """`account(map_of(...), demand)`, without the map."""
    tables = holders.values()
    used = (pool.num_blocks - pool.num_free) * block_size
    if sum([table.num_slots for table in tables]) > used:  # some are shared
        blocks = [table.blocks for table in tables]
        real = covered([table.num_tokens for table in tables], blocks, block_size)
        ever = covered([table.final_tokens for table in tables], blocks, block_size)
    else:
        real = sum([table.num_tokens for table in tables])
        ever = sum([t.final_tokens if t.final_tokens < t.num_slots else t.num_slots for t in tables])
    cached = pool.num_cached * block_size
    return tell_apart(real, ever, used, (pool.num_free * block_size - cached,), demand, cached)


def waste_of_owners(
    tables: Collection[BlockTable], pool: BlockPool, block_size: int, null_slots: int
) -> Waste:
    """The same where no block has two holders, in fewer looks; `null_slots` are held for nothing."""
    used = (pool.num_blocks - pool.num_free) * block_size
    real = sum([table.num_tokens for table in tables])
    never = sum([each.num_slots - each.final_tokens for each in tables if each.num_slots > each.final_tokens])
    cached = pool.num_cached * block_size
    ever = used - null_slots - never
    return Waste(real, ever - real, used - ever, 0, pool.num_free * block_size - cached, cached)


def check_holdings(holders: Holders, pool: BlockPool, block_size: int) -> None:
    """Raises AssertionError unless a block's reference count = the tables that hold it, and tokens fit."""
    pool.check()
    counts = Counter(chain.from_iterable(table.blocks for table in holders.values()))
    for block in range(pool.num_blocks):
        count = pool.ref_count(block)
        assert counts[block] == count, (
            f"block {block}: {counts[block]} tables hold it, its reference count is {count}"
        )
    for seq_id, table in holders.items():
        assert table.num_slots == len(table.blocks) * block_size, (
            f"r{seq_id}: {table.num_slots} slots in {len(table.blocks)} blocks of {block_size}"
        )
        assert table.num_tokens <= table.num_slots, (
            f"r{seq_id}: {table.num_tokens} tokens in {len(table.blocks)} blocks of {block_size}"
        )
