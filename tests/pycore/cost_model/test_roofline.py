"""The time of one step (facts, section 6)."""

import pytest

from pycore.cost_model import NO_DECODES, PAPER_KERNEL, Chunk, Decodes, Efficiency, HostLink, Roofline
from pycore.cost_model.attention_work import AttentionWork
from pycore.memory.move import Move
from pycore.scheduling.batch import Batch
from pycore.specs import (
    A100_40GB,
    H100_SXM,
    LLAMA_3_8B,
    LLAMA_3_70B,
    OPT_13B_GATED,
    Deployment,
    find_gpu,
    find_model,
)
from tests.pycore.build import sequence

MS = 1_000_000
ON_H100 = Roofline(Deployment(LLAMA_3_8B, H100_SXM))
NO_OVERHEAD = Efficiency(overhead_ns=0)


def on_h100(name: str, tp: int = 1, **more) -> Roofline:
    return Roofline(Deployment(find_model(name), H100_SXM, tp, **more), NO_OVERHEAD)


def prefill(tokens: int, cached: int = 0) -> list[Chunk]:
    return [Chunk(cached, tokens)]


@pytest.mark.parametrize(("model", "ms"), [(LLAMA_3_8B, 89.4), (LLAMA_3_70B, 842.3)], ids=["8B", "70B"])
def test_a_prefill_of_4096_tokens(model, ms):
    """Facts G1."""
    ns = Roofline(Deployment(model, H100_SXM)).work_ns(NO_DECODES, prefill(4096))
    assert round(ns / MS, 1) == ms


def test_400_prefills_of_659_tokens():
    """Facts G4."""
    assert round(400 * ON_H100.work_ns(NO_DECODES, prefill(659)) / 1e9, 2) == 5.58


def test_five_decodes_of_scenario_a_come_to_216_tokens_a_second():
    """Facts S1: the largest batch of reservation to the maximum, at 480 tokens each."""
    ns = Roofline(Deployment(OPT_13B_GATED, A100_40GB)).work_ns(Decodes(5, 5 * 480))
    assert round(5e9 / ns) == 216


def test_a_decode_reads_all_weights_and_its_keys_and_values():
    ns = Roofline(Deployment(LLAMA_3_8B, H100_SXM), NO_OVERHEAD).work_ns(Decodes(1, 1000))
    size = 2 * LLAMA_3_8B.num_params + 1000 * 131_072
    assert ns == size * 10**9 * 10 // (8 * 3_350 * 10**9)


def test_nothing_is_faster_than_the_data_sheet_allows():
    best = Roofline(Deployment(LLAMA_3_8B, H100_SXM), Efficiency(1000, 1000, 1000, 0))
    work = (Decodes(64, 64 * 1500), prefill(512))
    assert best.work_ns(*work) < ON_H100.work_ns(*work)
    assert best.work_ns(Decodes(1, 1)) >= 2 * LLAMA_3_8B.num_params * 10**9 // (3_350 * 10**9)


def test_a_cached_prefix_spares_its_arithmetic_but_is_read():
    whole, rest = (ON_H100.work_ns(NO_DECODES, prefill(*each)) for each in ((4096, 0), (1024, 3072)))
    assert whole > rest > ON_H100.work_ns(NO_DECODES, prefill(1024))


def test_chunks_add_up_to_the_whole_prompt_in_arithmetic():
    """No more, no fewer pairs of query and key; only the weights are read again."""
    model = on_h100("Llama-3-8B")
    chunks = [Chunk(0, 2048, last=False), Chunk(2048, 2048, last=True)]
    parts = sum(model.work_ns(NO_DECODES, [chunk]) for chunk in chunks)
    assert abs(parts - model.work_ns(NO_DECODES, prefill(4096))) <= 1


def test_decodes_beside_a_prefill_share_its_reading_of_the_weights():
    alone = ON_H100.work_ns(Decodes(8, 8000)) + ON_H100.work_ns(NO_DECODES, prefill(100))
    assert ON_H100.work_ns(Decodes(8, 8000), prefill(100)) < 0.6 * alone


def test_a_step_asked_by_its_batch_is_asked_by_its_work():
    batch = Batch()
    decoding, chunked, prefilled = (sequence(i, prompt=prompt) for i, prompt in enumerate((9, 500, 70)))
    decoding.num_computed, decoding.num_tokens = 9, 10
    chunked.num_computed = 128
    for seq, new in ((decoding, 1), (chunked, 256), (prefilled, 70)):
        batch.add(seq, new)
    chunks = [Chunk(128, 256, last=False), Chunk(0, 70)]
    assert ON_H100.step_ns(batch) == ON_H100.work_ns(Decodes(1, 10), chunks)


def test_an_empty_batch_takes_the_overhead():
    assert ON_H100.step_ns(Batch()) == 500_000


@pytest.mark.parametrize("tokens", [1, 100, 4096])
def test_more_gpus_are_faster_but_not_as_many_times_over(tokens):
    times = [on_h100("Llama-3-70B", tp).work_ns(NO_DECODES, prefill(tokens)) for tp in (1, 2, 4, 8)]
    assert times == sorted(times, reverse=True)
    assert 8 * times[3] > times[0]


def test_all_reduces_go_round_a_ring_twice_a_layer():
    """80 layers, 2 each: start and hops, and 2 · (tp − 1) / tp of 1,000 · 8,192 activations over NVLink."""
    one = Efficiency(overhead_ns=0, link=1000)
    four = Roofline(Deployment(LLAMA_3_70B, H100_SXM, 4), one).work_ns(NO_DECODES, prefill(1000))
    flops_ns = on_h100("Llama-3-70B").work_ns(NO_DECODES, prefill(1000)) // 4
    ring_ns = 160 * (6_600 + 6 * 600 + 6 * 1000 * 8192 * 2 / 4 / 450)
    assert four == pytest.approx(flops_ns + ring_ns, abs=2)


def test_8_bit_weights_double_arithmetic_where_the_gpu_has_it():
    assert on_h100("Llama-3-8B").work_ns(NO_DECODES, prefill(4096)) == pytest.approx(
        2 * on_h100("Llama-3-8B", weights_bits=8).work_ns(NO_DECODES, prefill(4096)), abs=2
    )
    on_a100 = [
        Roofline(Deployment(LLAMA_3_8B, A100_40GB, weights_bits=bits)).work_ns(NO_DECODES, prefill(4096))
        for bits in (16, 8, 4)
    ]
    assert len(set(on_a100)) == 1


@pytest.mark.parametrize("bits", [8, 4])
def test_fewer_bits_are_read_faster(bits):
    """All but the embeddings, which stay at 16 bits."""
    many, few = (
        on_h100("Llama-3-8B", weights_bits=each, kv_bits=each).work_ns(Decodes(8, 8000))
        for each in (16, bits)
    )
    embeddings_ns = 4 * LLAMA_3_8B.head_params / (0.8 * 3_350)
    assert few - embeddings_ns == pytest.approx((many - embeddings_ns) * bits / 16, abs=2)


def test_a_window_bounds_what_a_decode_reads():
    gemma = on_h100("Gemma-3-27B")
    growth = [
        gemma.work_ns(Decodes(1, n + 1000, (n + 1000,))) - gemma.work_ns(Decodes(1, n, (n,)))
        for n in (10, 5000)
    ]
    assert growth[0] == pytest.approx(growth[1] * 62 / 10, rel=1e-3)


def test_chunks_see_no_further_than_the_window():
    """Against pairs and keys counted one by one."""
    attention = AttentionWork(Deployment(find_model("Gemma-3-27B"), H100_SXM))
    for cached, new in ((0, 100), (1000, 100), (5000, 2048), (0, 3000)):
        flops, keys = attention.chunk(Chunk(cached, new))
        seen = [cached + i for i in range(1, new + 1)]
        inside = [min(each, 1024) for each in seen]
        assert flops == 4 * 32 * 128 * (10 * sum(seen) + 52 * sum(inside))
        first = max(0, cached + 1 - 1024)
        assert keys == 10 * (cached + new) + 52 * (cached + new - first)


def test_latent_vectors_are_read_instead_of_keys_and_values():
    deepseek = on_h100("DeepSeek-V3")
    step = deepseek.work_ns(Decodes(1, 200_000)) - deepseek.work_ns(Decodes(1, 100_000))
    assert step == pytest.approx(100_000 * 70_272 / (0.8 * 3_350), rel=1e-3)


def test_a_cached_prefix_of_latent_vectors_is_expanded_for_a_chunk():
    flops, _ = AttentionWork(Deployment(find_model("DeepSeek-V3"), H100_SXM)).chunk(Chunk(1000, 1))
    pairs = 1001 * 2 * 128 * (128 + 64 + 128) * 61
    assert flops == pairs + 1000 * 61 * 2 * 512 * 128 * (128 + 128)


@pytest.mark.parametrize(
    ("tokens", "experts"), [(1, 2.0), (2, 3.5), (4, 5.469), (8, 7.199), (64, 8.0)], ids=lambda each: str(each)
)
def test_experts_that_tokens_touch(tokens, experts):
    """Mixtral, 2 of 8: a token misses an expert with probability 3/4."""
    assert on_h100("Mixtral-8x7B").touched_experts(tokens) == round(1000 * experts)


def test_one_token_reads_its_own_experts_and_many_read_all():
    model = on_h100("Mixtral-8x7B")
    spec = model.deployment.model
    for tokens, params in ((1, spec.active_params), (500, spec.num_params)):
        assert model.work_ns(Decodes(tokens, 0)) == pytest.approx(2 * params / (0.8 * 3_350), rel=1e-6)


def test_a_slower_kernel_stretches_the_reading_of_kv_alone():
    slow = Roofline(Deployment(LLAMA_3_8B, H100_SXM), Efficiency(overhead_ns=0, kernel=PAPER_KERNEL))
    fast = on_h100("Llama-3-8B")
    weights_only, both = Decodes(8, 0), Decodes(8, 80_000)
    assert slow.work_ns(weights_only) == fast.work_ns(weights_only)
    kv_ns = fast.work_ns(both) - fast.work_ns(weights_only)
    assert slow.work_ns(both) - slow.work_ns(weights_only) == pytest.approx(1.23 * kv_ns, abs=2)


def test_the_papers_kernel_is_20_to_26_percent_slower_at_its_block_size_and_slower_still_below():
    """Facts S8."""
    at = [PAPER_KERNEL.thousandths(size) for size in (1, 2, 4, 8, 16, 32, 64, 128, 256)]
    assert 1200 <= at[4] <= 1260
    assert at == sorted(at, reverse=True)


@pytest.mark.parametrize(("model", "mb", "ms"), [(LLAMA_3_8B, 537, 21.5), (LLAMA_3_70B, 1342, 53.7)])
def test_swapping_4096_tokens_out_and_in(model, mb, ms):
    """Facts G2: at 50 GB/s and without an overhead for each block."""
    link = HostLink(50 * 10**9, per_copy_ns=0)
    there = link.swap_ns(Deployment(model, H100_SXM), 4096, block_size=16)
    assert round(2 * there / MS, 1) == ms
    assert round(there * 50 / MS) == mb


def test_swapping_1000_tokens_one_way():
    """Facts G3."""
    link = HostLink.of(A100_40GB)
    ns = link.swap_ns(Deployment(LLAMA_3_8B, A100_40GB), 1000, block_size=16)
    copies = 63 * 10_000
    assert round(copies / MS, 2) == 0.63
    assert round((ns - copies) / MS, 2) == 5.24
    assert round(ns / MS, 1) == 5.9


def test_links_to_the_cpu():
    """Facts G5."""
    assert HostLink.of(A100_40GB) == HostLink(25 * 10**9, 10_000)
    assert HostLink.of(H100_SXM) == HostLink(50 * 10**9, 10_000)


def test_recompute_does_not_depend_on_the_block_size_and_swap_does():
    """Facts G5."""
    deployment = Deployment(OPT_13B_GATED, A100_40GB)
    models = [Roofline(deployment, block_size=size) for size in (1, 16, 256)]
    assert len({model.recompute_ns(1000) for model in models}) == 1
    swaps = [model.swap_ns(1000) for model in models]
    assert swaps == sorted(swaps, reverse=True)
    copies_ns = 1000 * 10_000
    assert copies_ns / swaps[0] > copies_ns / 1000 / swaps[2]


def test_swapped_blocks_of_a_batch_go_over_the_link_and_copied_ones_through_memory():
    model = Roofline(Deployment(OPT_13B_GATED, A100_40GB), NO_OVERHEAD)
    block = 16 * 819_200
    assert model.moves_ns([Move("out", 0, 1)] * 3) == 3 * (block * 10 // 250 + 10_000)
    assert model.moves_ns([Move("copy", 0, 1)]) == pytest.approx(2 * block / (0.8 * 1_555), abs=1)
    batch = Batch()
    batch.moves = [Move("in", 0, 1)]
    assert model.step_ns(batch) - model.step_ns(Batch()) == model.moves_ns(batch.moves)


def test_shares_above_the_data_sheet_are_refused():
    with pytest.raises(ValueError, match="mfu is 1001, expected 1 to 1000 thousandths"):
        Efficiency(mfu=1001)
    with pytest.raises(ValueError, match="overhead_ns is -1"):
        Efficiency(overhead_ns=-1)


def test_the_catalogue_is_timed_in_the_order_of_its_bandwidths():
    gpus = [
        find_gpu(name)
        for name in ("L4", "A10G", "RTX-4090", "A100-80GB-SXM", "H100-SXM", "H200-SXM", "B200-SXM")
    ]
    times = [Roofline(Deployment(LLAMA_3_8B, gpu)).work_ns(Decodes(4, 4000)) for gpu in gpus]
    assert times == sorted(times, reverse=True)
