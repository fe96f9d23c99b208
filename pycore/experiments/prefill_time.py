"""What prefills cost: the paper GPU behind the experiments on prefix reuse."""

from collections.abc import Sequence

from pycore.cost_model import NO_DECODES, Chunk, CostModel, Roofline
from pycore.experiments.prefix_run import Served
from pycore.specs import H100_SXM, LLAMA_3_8B, Deployment

LLAMA_ON_H100 = Roofline(Deployment(LLAMA_3_8B, H100_SXM))


def prefill_ns(cost: CostModel, prompt_len: int, cached: int = 0) -> int:
    """Time of one prefill alone, in ns, the first `cached` tokens of which have their KV already."""
    return cost.work_ns(NO_DECODES, (Chunk(cached, prompt_len - cached),))


def prefills_ns(cost: CostModel, prompt_lens: Sequence[int], hit_lens: Sequence[int] | None = None) -> int:
    """Time of prefills one after the other, in ns; without a cache if no hits are given."""
    hits = [0] * len(prompt_lens) if hit_lens is None else hit_lens
    return sum(prefill_ns(cost, *each) for each in zip(prompt_lens, hits, strict=True))


def weights_ns(cost: CostModel) -> int:
    """Time of the least prefill, of one token, in ns: next to nothing but one read of the weights."""
    return prefill_ns(cost, 1)


def seconds(ns: int) -> float:
    """As it is shown."""
    return round(ns / 10**9, 2)


def served_seconds(run: Served, cost: CostModel = LLAMA_ON_H100) -> float:
    """Time of all prefills of a run, in s, as it is shown."""
    return seconds(prefills_ns(cost, run.prompt_lens, run.hit_lens))
