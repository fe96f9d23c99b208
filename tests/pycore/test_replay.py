"""A replay: what it adds up, whom it tells, and what it keeps."""

from collections import Counter
from dataclasses import replace

import pytest

from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.latency import Slo
from pycore.replay import Replay
from pycore.request import Request
from pycore.specs import A100_40GB, OPT_13B_GATED, Deployment
from pycore.workload.poisson import SHAREGPT

TIGHT = EngineConfig(
    memory=MemoryConfig(num_blocks=200, block_size=16, cpu_blocks=60),
    scheduler=SchedulerConfig(rules="prefill-first"),
    deployment=Deployment(OPT_13B_GATED, A100_40GB),
)


def run(config=TIGHT, requests=None, **options):
    replay = Replay(config, SHAREGPT.requests(5, 120, 2) if requests is None else requests, **options)
    replay.advance(10**9)
    assert replay.done
    return replay.result()


def test_every_request_ends_once_and_all_its_tokens_come_out():
    told = []
    result = run(on_served=told.append)
    asked = {each.id: each for each in SHAREGPT.requests(5, 120, 2)}
    assert result.num_finished + result.num_rejected == result.num_requests == 120
    assert Counter(each.request.id for each in told).most_common(1)[0][1] == 1
    assert len(told) == result.num_finished
    assert result.tokens_out == sum(asked[each.request.id].output_len for each in told)
    assert result.tokens_in == sum(asked[each.request.id].prompt_len for each in told)
    assert result.end_ns == max(each.request.arrival_ns + each.end_to_end_ns for each in told)


@pytest.mark.parametrize("recovery", ["recompute", "swap"])
def test_what_requests_lost_adds_up_to_what_the_engine_lost(recovery):
    told = []
    scheduler = SchedulerConfig(rules="prefill-first", recovery=recovery)
    result = run(replace(TIGHT, scheduler=scheduler), on_served=told.append)
    assert result.num_preemptions > 10
    assert sum(each.preemptions for each in told) == result.num_preemptions
    assert sum(each.num_recomputed for each in told) == result.num_recomputed
    assert sum(each.num_swapped for each in told) == result.num_tokens_swapped
    assert (result.num_tokens_swapped > 0) == (recovery == "swap")
    assert result.preemptions.mean == result.num_preemptions / len(told)


def test_a_request_of_several_sequences_is_served_once_with_the_last_of_them():
    told = []
    load = [Request(i, i, 20, 30, 3, kind) for i, kind in enumerate(("parallel", "beam", "parallel"))]
    result = run(requests=load, on_served=told.append)
    assert sorted(each.request.id for each in told) == [0, 1, 2]
    assert result.tokens_out == 3 * 3 * 30


def test_a_rejected_request_is_outside_the_slo():
    load = [Request(0, 0, 20, 3), Request(1, 0, 20, 5000)]
    result = run(requests=load, slo=Slo(10**12, 10**12))
    assert (result.num_in_slo, result.num_rejected, result.attainment) == (1, 1, 0.5)
    assert result.goodput == result.requests_per_second > 0


def test_no_time_is_below_what_the_gpu_takes():
    """Arithmetic at its peak, and one read of the weights a step: nothing can be faster."""
    told = []
    run(on_served=told.append)
    gpu, model = A100_40GB, OPT_13B_GATED
    weights_ns = TIGHT.deployment.dense_bytes * 10**9 // gpu.bandwidth
    for each in told:
        prefill_ns = (
            2 * (model.active_params - model.num_embeddings * model.head_params) * each.request.prompt_len
        )
        assert each.ttft_ns >= max(weights_ns, prefill_ns * 10**9 // gpu.peak_flops(16))
        assert each.tpot_ns is None or each.tpot_ns >= weights_ns


def test_requests_are_taken_one_at_a_time_and_counted_where_nobody_says_how_many():
    taken = []

    def stream():
        for each in SHAREGPT.requests(5, 50, 1):
            taken.append(each.id)
            yield each

    replay = Replay(TIGHT, stream())
    replay.advance(5)
    assert 1 <= replay.num_requests == len(taken) < 10
    replay.advance(10**9)
    assert replay.num_requests == replay.num_ended == 50
    assert Replay(TIGHT, stream(), num_requests=50).num_requests == 50


@pytest.mark.parametrize("leaps", [True, False])
def test_the_time_line_counts_preemptions_as_they_add_up(leaps):
    result = run(leaps=leaps)
    so_far = result.time_line["preemptions"]
    assert so_far[0] == 0
    assert so_far == sorted(so_far)
    assert result.num_preemptions - 1 <= so_far[-1] <= result.num_preemptions


def test_requests_that_wait_for_ever_are_counted_and_the_one_that_holds_them_up_is_named():
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=10, block_size=4),
        scheduler=SchedulerConfig(rules="vllm-v1"),
        step_ns=1,
    )
    load = [Request(0, 0, 8, 4), Request(1, 10, 60, 4), Request(2, 20, 8, 4)]
    result = run(config, load, slo=Slo(10**9, 10**9))
    assert (result.num_finished, result.num_rejected, result.num_hung, result.hung_on) == (1, 0, 2, 1)
    assert result.attainment == 1 / 3
    sound = run(replace(config, scheduler=SchedulerConfig()), load)
    assert (sound.num_finished, sound.num_rejected, sound.num_hung, sound.hung_on) == (2, 1, 0, None)
