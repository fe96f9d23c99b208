"""Waste and table length against block size."""

import pytest

from pycore.events import NullLog
from pycore.experiments.block_size import BLOCK_SIZE, SIZES
from pycore.memory.block_pool import BlockPool
from pycore.memory.free_list import Ascending
from pycore.memory.paged import PagedAllocator
from pycore.request import Request, Sequence
from pycore.workload.synthetic import lognormal_lengths


def test_the_formula_gives_the_published_figures_for_a_uniform_last_block():
    """Facts E6: 0 / 2.3 / 9.1 / 28.9 %."""
    lengths, _ = BLOCK_SIZE.run({"large_blocks": True}).tables
    expected = {row[0]: row[6] for row in lengths.rows}
    assert [expected[size] for size in (1, 16, 64, 256)] == [0.0, 2.3, 9.1, 28.9]


def test_large_blocks_are_measured_only_when_asked():
    small, large = BLOCK_SIZE.run({}), BLOCK_SIZE.run({"large_blocks": "1"})
    assert [row[0] for row in small.tables[0].rows] == list(SIZES)
    assert [row[0] for row in large.tables[0].rows] == [*SIZES, 64, 256]


@pytest.mark.parametrize("size", [1, 4, 16])
def test_what_is_measured_is_what_a_real_allocation_holds(size):
    lengths = lognormal_lengths(5, 100, 313, 0.8)
    held = 0
    for i, length in enumerate(lengths):
        pool = BlockPool(4096, Ascending(range(4096)))
        memory = PagedAllocator(pool, size, NullLog())
        seq = Sequence(Request(i, 0, length, 1))
        assert memory.allocate_slots(seq, length)
        held += memory.memory_map().used
    (row,) = (row for row in BLOCK_SIZE.run({"requests": 100}).tables[0].rows if row[0] == size)
    assert row[1] == round((held - sum(lengths)) / 100, 2)
    assert row[8] == round(held / size / 100, 1)


def test_on_a_run_larger_blocks_leave_more_held_slots_without_a_token():
    _, run = BLOCK_SIZE.run({"requests": 100}).tables
    unfilled = [row[1] for row in run.rows]
    assert unfilled[0] == 0
    assert unfilled == sorted(unfilled)
    residents = [row[3] for row in run.rows]
    assert residents[-1] < residents[0]


@pytest.mark.parametrize(("requests", "batches"), [(100, 1), (2000, 1), (2001, 2)])
def test_progress_counts_batches_of_lengths_and_runs(requests, batches):
    seen = []
    BLOCK_SIZE.run({"requests": requests}, lambda *heard: seen.append(heard))
    total = batches * (1 + len(SIZES)) + len(SIZES)
    assert seen == [(i, total) for i in range(1, total + 1)]
