"""One group of sequences alone in memory, watched while it shares."""

from dataclasses import dataclass

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.engine import Engine
from pycore.events import BlockCopied, EventLog, RegionReserved
from pycore.request import Request


def lone_engine(request: Request, block_size: int, mode: str = "paged") -> Engine:
    """An engine with room for private copies of all the request's sequences, and one step a ns."""
    slots = request.num_seqs * (request.total_len + block_size)
    memory = MemoryConfig(mode, -(-slots // block_size), block_size, reservation="oracle")
    scheduler = SchedulerConfig(watermark=0)
    return build_engine(
        EngineConfig(memory, scheduler, max_len=request.total_len, step_ns=1), [request], EventLog()
    )


@dataclass(frozen=True, slots=True)
class Samples:
    """Parallel samples at the moment when each has `output` tokens of its own in memory.

    Attributes:
        num, prompt, output, block_size: what was run; lengths in tokens.
        shared: blocks in use.
        unshared: blocks that the samples hold one by one, each shared block counted for each holder.
        after_prompt: blocks in use after the first step, when the samples have just parted.
        copies: blocks copied on write.
        regions: slots that contiguous memory reserves for them, one region a sample, no slot too many.
    """

    num: int
    prompt: int
    output: int
    block_size: int
    shared: int
    unshared: int
    after_prompt: int
    copies: int
    regions: int

    @property
    def saving(self) -> float:
        """Share of the unshared blocks that sharing saves, 0 to 1."""
        return 1 - self.shared / self.unshared

    @property
    def formula(self) -> float:
        """The saving if there were no blocks: (n − 1) · prompt / (n · (prompt + output))."""
        return (self.num - 1) * self.prompt / (self.num * (self.prompt + self.output))

    @property
    def expected_blocks(self) -> int:
        """Full prompt blocks once, and for each sample the blocks of what follows them."""
        whole = self.prompt // self.block_size
        return whole + self.num * (-(-(self.prompt + self.output) // self.block_size) - whole)

    @property
    def expected_copies(self) -> int:
        """Everybody but the last writer copies the prompt's last block, if it is not full."""
        return self.num - 1 if self.prompt % self.block_size else 0


def parallel_samples(num: int, prompt: int, output: int, block_size: int) -> Samples:
    """Runs `num` samples of one prompt, paged and contiguous."""
    # The token that a step emits has its KV written in the next one: one step more, and one before the end.
    request = Request(0, 0, prompt, output + 2, num, "parallel")
    engine = lone_engine(request, block_size)
    engine.step()
    after_prompt = engine.allocator.memory_map().used // block_size
    for _ in range(output):
        engine.step()
    memory = engine.allocator.memory_map()
    contiguous = lone_engine(Request(0, 0, prompt, output, num, "parallel"), block_size, "contiguous")
    contiguous.step()
    return Samples(
        num,
        prompt,
        output,
        block_size,
        memory.used // block_size,
        sum(memory.held) // block_size,
        after_prompt,
        sum(isinstance(event, BlockCopied) for event in engine.log.drain()),
        sum(event.held for event in contiguous.log.drain() if isinstance(event, RegionReserved)),
    )
