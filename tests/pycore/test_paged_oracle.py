"""The whole engine against the definition: continuous batching on a paged pool, with sets for tables."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.memory.free_list import FREE_ORDERS
from tests.pycore.build import engine


@dataclass
class Job:
    """A request of the oracle."""

    id: int
    prompt: int
    output: int
    arrival: int
    generated: int = 0
    blocks: set[int] = field(default_factory=set)


class Oracle:
    """First come, first served, on blocks of which only the number matters."""

    def __init__(self, lengths, num_blocks: int, block_size: int, watermark: int, max_num_seqs: int) -> None:
        self.jobs = [Job(i, *length) for i, length in enumerate(lengths)]
        self.free = set(range(num_blocks))
        self.num_blocks, self.block_size = num_blocks, block_size
        self.watermark, self.max_num_seqs = watermark, max_num_seqs
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self.finished: list[int] = []
        self.rejected: list[int] = []
        self.now = self.preemptions = 0

    def blocks(self, tokens: int) -> int:
        return (tokens + self.block_size - 1) // self.block_size

    def take(self, job: Job, wanted: int) -> None:
        while len(job.blocks) < wanted:
            job.blocks.add(self.free.pop())

    def drop(self, job: Job) -> None:
        self.free |= job.blocks
        job.blocks = set()
        self.running.remove(job)

    def step(self) -> None:
        for job in [job for job in self.jobs if job.arrival <= self.now]:
            self.jobs.remove(job)
            if self.blocks(job.prompt + job.output - 1) > self.num_blocks:
                self.rejected.append(job.id)
            else:
                self.waiting.append(job)
        preempted = False
        # In order of arrival, the last one giving way until the one at hand has its block.
        for job in sorted(self.running, key=lambda job: job.id):
            while job in self.running:
                wanted = self.blocks(job.prompt + job.generated)
                if wanted - len(job.blocks) <= len(self.free):
                    self.take(job, wanted)
                    break
                last = max(self.running, key=lambda job: job.id)
                self.drop(last)
                self.waiting.insert(0, last)
                preempted = True
                self.preemptions += 1
        while self.waiting and not preempted and len(self.running) < self.max_num_seqs:
            job = self.waiting[0]
            wanted = self.blocks(job.prompt + job.generated)
            if wanted + (self.watermark if self.running else 0) > len(self.free):
                break
            self.take(job, wanted)
            self.running.append(self.waiting.pop(0))
        self.now += 1
        for job in list(self.running):
            job.generated += 1
            if job.generated == job.output:
                self.finished.append(job.id)
                self.drop(job)


@pytest.mark.parametrize("order", FREE_ORDERS)
@given(
    lengths=st.lists(st.tuples(st.integers(1, 20), st.integers(1, 14), st.integers(0, 4)), max_size=12),
    num_blocks=st.integers(1, 16),
    block_size=st.integers(1, 5),
    watermark=st.integers(0, 4),
    max_num_seqs=st.sampled_from([1, 3, 256]),
)
def test_paged_first_come_first_served_is_that_of_the_definition(
    order, lengths, num_blocks, block_size, watermark, max_num_seqs
):
    arrival, timed = 0, []
    for prompt, output, gap in lengths:
        arrival += gap
        timed.append((prompt, output, arrival))
    watermark = min(watermark, num_blocks)
    real = engine(
        timed,
        choice=f"paged-{order}",
        num_blocks=num_blocks,
        block_size=block_size,
        watermark=watermark / num_blocks,
        max_num_seqs=max_num_seqs,
    )
    oracle = Oracle(timed, num_blocks, block_size, int(watermark / num_blocks * num_blocks), max_num_seqs)
    finished: list[int] = []
    for _ in range(60):
        finished += [seq.id for seq in real.step()]
        oracle.step()
        memory = real.allocator.memory_map()
        assert list(memory.seqs) == [job.id for job in oracle.running]
        assert list(memory.tokens) == [job.prompt + job.generated - 1 for job in oracle.running]
        assert list(map(len, memory.places)) == [len(job.blocks) for job in oracle.running]
        assert [seq.id for seq in real.scheduler.waiting] == [job.id for job in oracle.waiting]
        assert finished == oracle.finished
        assert real.scheduler.num_rejected == len(oracle.rejected)
        assert real.scheduler.num_preemptions == oracle.preemptions
        assert real.allocator.num_free == len(oracle.free) * block_size
