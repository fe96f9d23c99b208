"""How much KV cache a deployment has room for, term by term.

    KV space = (memory − kept by the card) · utilisation − weights − what the engine needs to run

What an engine needs is measured by vLLM in a trial run at start-up; here it is estimated from the shapes of
that trial run. Everything is per GPU: with tensor parallelism each holds a shard.
"""

from dataclasses import dataclass

from pycore.specs import Deployment, kv_bytes

PER_MILLE = 1000


@dataclass(frozen=True, slots=True)
class EngineMemory:
    """What a serving engine takes besides weights and KV; the figures are vLLM V1's.

    The trial run computes `max_num_batched_tokens` tokens and samples for `max_num_seqs` sequences; its peak
    is in the sampler, where logits are sorted. The constants are from start-up logs of vLLM on H100, which
    llm-d published (config_explorer/empirical-vllm-memory-results.md): peaks of 4.76 to 7.38 GiB over five
    models, with 1,024 sequences and 8,192 tokens, are 38.4 to 39.6 bytes a logit, hidden states included.
    CUDA graphs are not deducted, as in vLLM before 0.21.

    Attributes:
        max_num_batched_tokens: tokens of a step at most.
        max_num_seqs: sequences of a step at most.
        logit_bytes: a logit in the sampler: 2 as the model gives it, 4 in single precision, 12 sorted with
            its index, and 20 that sorting takes meanwhile.
        buffer_bytes: inputs, rotary tables, workspaces.
        context_bytes: that the CUDA libraries take outside the framework's allocator ("non-torch").
        nccl_bytes: that communication takes in addition, with more than one GPU.
        kept: thousandths of the data sheet's memory that the driver does not hand out: 10 on an H100, 20 on
            an RTX 4090.
    """

    max_num_batched_tokens: int = 2048
    max_num_seqs: int = 256
    logit_bytes: int = 38
    buffer_bytes: int = 60_000_000
    context_bytes: int = 140_000_000
    nccl_bytes: int = 450_000_000
    kept: int = 10


VLLM_MEMORY = EngineMemory()
# Nothing but weights and KV: the textbook sum.
NO_ENGINE = EngineMemory(0, 0, 0, 0, 0, 0, 0)


class WeightsDoNotFitError(ValueError):
    """Weights and engine leave no room for a single block.

    Attributes:
        deployment: what was to run on what.
        needed: bytes of one GPU that weights, engine and one block take.
        usable: bytes that there are.
    """

    def __init__(self, deployment: Deployment, needed: int, usable: int) -> None:
        gpus = f"{deployment.tp} × {deployment.gpu.name}" if deployment.tp > 1 else deployment.gpu.name
        super().__init__(
            f"{deployment.model.name} does not fit on {gpus}: each GPU needs {needed / 1e9:.1f} GB "
            f"and may use {usable / 1e9:.1f} GB"
        )
        self.deployment = deployment
        self.needed = needed
        self.usable = usable


@dataclass(frozen=True, slots=True)
class Capacity:
    """The KV cache of one GPU and what it comes from; in bytes unless said.

    Attributes:
        deployment: what runs on what.
        memory: of the GPU, by its data sheet.
        kept: of it, what the card does not hand out.
        usable: what the engine may use of the rest.
        weights: of the model's shard.
        hidden: activations of the largest step, and buffers.
        sampler: logits of the largest step, while they are sorted.
        context: libraries and communication.
        bytes_per_token: KV of a token that lies inside every window.
        block_size: token slots a block.
        num_blocks: blocks that fit.
    """

    deployment: Deployment
    memory: int
    kept: int
    usable: int
    weights: int
    hidden: int
    sampler: int
    context: int
    bytes_per_token: int
    block_size: int
    num_blocks: int

    @property
    def kv_space(self) -> int:
        """Bytes left for KV."""
        return self.usable - self.weights - self.hidden - self.sampler - self.context

    @property
    def num_tokens(self) -> int:
        """Token slots; tokens outside the windows of a model with sliding windows need less."""
        return self.num_blocks * self.block_size

    def bytes_per_user(self, context: int) -> int:
        """KV of one sequence of `context` tokens in whole blocks, on one GPU."""
        slots = -(-context // self.block_size) * self.block_size
        deployment = self.deployment
        return kv_bytes(deployment.model, slots, deployment.kv_bits, deployment.tp)

    def users(self, context: int) -> int:
        """Sequences of `context` tokens each that fit at the same time.

        Raises:
            ValueError: a context below 1.
        """
        if context < 1:
            raise ValueError(f"context is {context}, expected at least 1 token")
        return self.num_blocks * self.block_size * self.bytes_per_token // self.bytes_per_user(context)


def capacity(
    deployment: Deployment,
    block_size: int = 16,
    utilisation: int = 900,
    engine: EngineMemory = VLLM_MEMORY,
    device_bytes: int | None = None,
) -> Capacity:
    """What fits.

    Args:
        deployment: what runs on what.
        block_size: token slots a block.
        utilisation: thousandths of the memory that the engine may use (vLLM's default is 900).
        engine: what it takes for itself.
        device_bytes: memory that the card reports, where it is known.

    Raises:
        WeightsDoNotFitError: no block fits.
        ValueError: a block size below 1, or a utilisation that is no share.

    >>> from pycore.specs import A100_40GB, OPT_13B_GATED
    >>> capacity(Deployment(OPT_13B_GATED, A100_40GB), engine=NO_ENGINE).num_blocks
    748
    """
    if block_size < 1 or not 1 <= utilisation <= PER_MILLE:
        raise ValueError(
            f"block_size is {block_size} and utilisation {utilisation}, "
            f"expected at least 1 token and 1 to {PER_MILLE} thousandths"
        )
    model, memory = deployment.model, deployment.gpu.memory_bytes
    kept = memory * engine.kept // PER_MILLE if device_bytes is None else memory - device_bytes
    usable = (memory - kept) * utilisation // PER_MILLE
    hidden = 2 * engine.max_num_batched_tokens * model.hidden_size + engine.buffer_bytes
    sampler = engine.logit_bytes * engine.max_num_seqs * model.vocab_size
    context = engine.context_bytes + (engine.nccl_bytes if deployment.tp > 1 else 0)
    per_token = deployment.kv_bytes_per_token
    taken = deployment.weight_bytes + hidden + sampler + context
    num_blocks = (usable - taken) // (block_size * per_token)
    if num_blocks < 1:
        raise WeightsDoNotFitError(deployment, taken + block_size * per_token, usable)
    return Capacity(
        deployment=deployment,
        memory=memory,
        kept=kept,
        usable=usable,
        weights=deployment.weight_bytes,
        hidden=hidden,
        sampler=sampler,
        context=context,
        bytes_per_token=per_token,
        block_size=block_size,
        num_blocks=num_blocks,
    )
