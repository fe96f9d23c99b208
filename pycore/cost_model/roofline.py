"""The roofline: a step takes as long as its arithmetic or its memory traffic, whichever is longer.

    ns = max(FLOPs / (MFU · peak), bytes / (MBU · bandwidth)) + all-reduces + overhead      (facts, section 6)

FLOPs: 2 for each active weight and new token; attention as in `attention_work`; the output head where a token
comes out. Bytes, of one GPU: all weights once, of experts those that the tokens touch, and the KV read.

Both are integers, and each of the two times is rounded down to a nanosecond once a step. While nothing but
decoding goes on, they grow by the same amount in each step: see `decode_line`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pycore.cost_model.all_reduce import AllReduce
from pycore.cost_model.attention_work import AttentionWork
from pycore.cost_model.decode_line import DecodeLine
from pycore.cost_model.efficiency import DEFAULT_EFFICIENCY, THOUSAND, Efficiency
from pycore.cost_model.host_link import HostLink
from pycore.cost_model.rate import Rate
from pycore.cost_model.work import NO_DECODES, Chunk, Decodes, work_of
from pycore.memory.move import Move
from pycore.scheduling.batch import Batch
from pycore.specs import Deployment


class StepParts(NamedTuple):
    """Where the time of a step goes, in ns.

    Attributes:
        compute: arithmetic.
        traffic: weights and KV read.
        fixed: all-reduces and overhead.
    """

    compute: int
    traffic: int
    fixed: int


class Roofline:
    """A CostModel of a model on one or more GPUs.

    Attributes:
        deployment: what runs on what.
        efficiency: how well.
        block_size: token slots a block.
        host_link: what swapped blocks are copied over.
        needs_lengths: see CostModel.
    """

    _line_of = DecodeLine

    def __init__(
        self,
        deployment: Deployment,
        efficiency: Efficiency = DEFAULT_EFFICIENCY,
        block_size: int = 16,
        host_link: HostLink | None = None,
    ) -> None:
        """Args: see the attributes; the GPU's own link if none is given."""
        model, gpu = deployment.model, deployment.gpu
        self.deployment = deployment
        self.efficiency = efficiency
        self.block_size = block_size
        self.host_link = host_link or HostLink.of(gpu)
        self.needs_lengths = model.window is not None
        self._attention = AttentionWork(deployment)
        self._all_reduce = AllReduce(deployment, efficiency)
        self._compute = Rate(gpu.peak_flops(deployment.weights_bits) * deployment.tp, efficiency.mfu)
        self._traffic = Rate(gpu.bandwidth * THOUSAND, efficiency.mbu)  # of thousandths of bytes
        self._head_flops = 2 * model.head_params
        self._token_and_head_flops = self._head_flops + 2 * (
            model.active_params - model.num_embeddings * model.head_params
        )
        self._is_parallel = deployment.tp > 1
        self._has_experts = model.experts is not None
        self._token_flops = 2 * (model.active_params - model.num_embeddings * model.head_params)
        self._dense_bytes = deployment.dense_bytes * THOUSAND
        self._kv_bytes = self._attention.token_bytes * (
            efficiency.kernel.thousandths(block_size) if efficiency.kernel else THOUSAND
        )
        self._lines: dict[int, DecodeLine] = {}

    def step_ns(self, batch: Batch) -> int:
        """See CostModel."""
        ns = self.work_ns(*work_of(batch, self.needs_lengths))
        return ns + self.moves_ns(batch.moves) if batch.moves else ns

    def work_ns(self, decodes: Decodes, chunks: Sequence[Chunk] = ()) -> int:
        """See CostModel."""
        if decodes.count and not chunks:
            return self._line(decodes.count).step_ns(self._layer_keys(decodes))
        compute, traffic, fixed = self._parts(decodes, chunks)
        return self._together(compute, traffic) + fixed or 1

    def _together(self, compute: int, traffic: int) -> int:
        """How long both take: here, the longer of the two."""
        return compute if compute > traffic else traffic

    def parts(self, decodes: Decodes, chunks: Sequence[Chunk] = ()) -> StepParts:
        """The time of one forward pass without block copies, by what takes it."""
        return StepParts(*self._parts(decodes, chunks))

    def _parts(self, decodes: Decodes, chunks: Sequence[Chunk]) -> tuple[int, int, int]:
        """The same, for each of millions of steps."""
        tokens = decodes.count
        attention = self._attention
        layer_keys = self._layer_keys(decodes) if tokens else 0
        flops = layer_keys * attention.decode_flops + tokens * self._token_and_head_flops
        seqs = tokens + len(chunks)
        for chunk in chunks:
            _, new, last = chunk
            tokens += new
            chunk_flops, chunk_keys = attention.chunk(chunk)
            flops += chunk_flops + new * self._token_flops + last * self._head_flops
            layer_keys += chunk_keys
        size = self._weight_bytes(tokens) + layer_keys * self._kv_bytes if tokens else 0
        compute, traffic = self._compute, self._traffic
        return (
            flops * compute.num // compute.den,  # Rate.ns, without the calls
            size * traffic.num // traffic.den,
            self._fixed_ns(tokens, seqs),
        )

    def _layer_keys(self, decodes: Decodes) -> int:
        """Keys that they attend to, summed over the layers."""
        attention = self._attention
        keys = attention.full_layers * decodes.keys
        if not decodes.lengths:
            return keys
        window = attention.window
        return keys + attention.window_layers * sum([min(each, window) for each in decodes.lengths])

    def _line(self, count: int) -> DecodeLine:
        """The time of steps that decode `count` sequences, by keys summed over the layers."""
        line = self._lines.get(count)
        if line is None:
            line = self._lines[count] = self._line_of(
                self._compute,
                (count * self._token_and_head_flops, self._attention.decode_flops),
                self._traffic,
                (self._weight_bytes(count), self._kv_bytes),
                self._fixed_ns(count, count),
            )
        return line

    def stretch_ns(self, decodes: Decodes, steps: int) -> int:
        """See CostModel."""
        if steps <= 0:
            return 0
        count, attention = decodes.count, self._attention
        if not count:
            return steps * self.work_ns(decodes)
        line, layers = self._line(count), attention.full_layers
        if not decodes.lengths:
            return line.stretch_ns(layers * decodes.keys, layers * count, steps)
        return sum(
            line.stretch_ns(
                attention.layer_keys(decodes.keys + start * count, window_keys),
                attention.layer_keys(count, growing),
                length,
            )
            for start, length, window_keys, growing in self._pieces(decodes, steps)
        )

    def begun_within(self, decodes: Decodes, ns: int, limit: int) -> tuple[int, int]:
        """See CostModel."""
        count = decodes.count
        if not decodes.lengths:
            layers = self._attention.full_layers
            return self._line(count).begun_within(layers * decodes.keys, layers * count, ns, limit)
        high = min(limit - 1, (ns - 1) // self.work_ns(decodes))  # no step is shorter than the first
        low = min(high, (ns - 1) // self.work_ns(decodes.after(high)))
        while low < high:
            middle = (low + high + 1) // 2
            if self.stretch_ns(decodes, middle) < ns:
                low = middle
            else:
                high = middle - 1
        return low + 1, self.stretch_ns(decodes, low + 1)

    def recompute_ns(self, tokens: int) -> int:
        """Time to make the KV of `tokens` tokens anew, in a step of its own, without the step's overhead."""
        return self.work_ns(NO_DECODES, (Chunk(0, tokens),)) - self.efficiency.overhead_ns

    def swap_ns(self, tokens: int) -> int:
        """Time to copy the KV of `tokens` tokens to the CPU, or back."""
        return self.host_link.swap_ns(self.deployment, tokens, self.block_size)

    def moves_ns(self, moves: Sequence[Move]) -> int:
        """Time of block copies: over the link to the CPU, or inside the GPU's memory, read and written."""
        block = self.deployment.kv_bytes_per_token * self.block_size
        inside = sum(move.kind == "copy" for move in moves)
        outside = len(moves) - inside
        return self.host_link.ns(outside * block, outside) + self._traffic.ns(2 * inside * block * THOUSAND)

    def touched_experts(self, tokens: int) -> int:
        """Thousandths of experts that `tokens` tokens are routed to in a layer, if all are as likely."""
        experts = self.deployment.model.experts
        if experts is None:
            return 0
        missed = 1 - experts.per_token / experts.count
        return round(THOUSAND * experts.count * (1 - missed**tokens))  # rounded here: pow differs by platform

    def _weight_bytes(self, tokens: int) -> int:
        """Thousandths of bytes of one GPU's weights that `tokens` tokens need."""
        if not self._has_experts:
            return self._dense_bytes
        layers, one = self.deployment.model.expert_layers, self.deployment.expert_bytes
        return self._dense_bytes + layers * one * self.touched_experts(tokens)

    def _fixed_ns(self, tokens: int, seqs: int) -> int:
        """What does not depend on the context."""
        ns = self.efficiency.overhead_ns + seqs * self.efficiency.per_seq_ns
        return ns + self._all_reduce.ns(tokens) if tokens and self._is_parallel else ns

    def _pieces(self, decodes: Decodes, steps: int) -> Iterator[tuple[int, int, int, int]]:
        """The stretch in pieces in which equally many sequences grow inside their window.

        Yields:
            First step, number of steps, keys in windows at the first step, and by how many they grow a step.
        """
        window = self._attention.window
        left = sorted(window - keys for keys in decodes.lengths if keys < window)  # steps until it is full
        keys = sum(min(each, window) for each in decodes.lengths)
        start, growing = 0, len(left)
        for end in [*left, steps]:
            if end > start:
                length = min(end, steps) - start
                yield start, length, keys, growing
                keys += length * growing
                start += length
                if start == steps:
                    return
            growing -= 1
