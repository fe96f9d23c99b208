"""Folders of measured runs: what is read, what is assumed, what is refused."""

import pytest

from pycore.fidelity.run_files import RunFileError, read_run
from pycore.specs.catalogue import UnknownNameError
from tests.pycore.fidelity.run_folder import CONFIG, HARDWARE, META, REQUEST, run_files

MS = 1_000_000


def read(name: str = "H100_Llama-3.1-8B", **changes):
    return read_run(name, run_files(**changes))


def test_times_count_from_the_first_arrival_and_the_first_in_the_queue():
    first, later = read().measured.requests
    assert (first.arrival_ns, first.queued_ns, first.ttft_ns, first.end_to_end_ns) == (
        0,
        0,
        250 * MS,
        375 * MS,
    )
    assert first.tpot_ns == 125 * MS // 2
    assert (later.arrival_ns, later.queued_ns, later.ttft_ns) == (250 * MS, 250 * MS, 250 * MS)
    assert later.tpot_ns is None


def test_settings_are_those_of_the_run():
    cache = {"num_gpu_blocks": 99, "block_size": 32, "gpu_memory_utilization": 0.8}
    meta = {**META, "kv_cache": {**cache, "enable_prefix_caching": False}}
    meta["resolved_config"] = {"scheduler_config": {"async_scheduling": False}}
    settings = read(meta=meta).settings
    assert (settings.max_num_seqs, settings.token_budget) == (4, 512)
    assert (settings.num_blocks, settings.block_size, settings.utilisation) == (99, 32, 800)
    assert not settings.prefix_caching
    assert not settings.scheduled_ahead
    assert settings.deployment.gpu.bandwidth == 3000 * 10**9
    assert settings.deployment.gpu.link_bandwidth == 50 * 10**9
    assert settings.states_link


def test_what_is_not_said_is_as_in_vllm():
    settings = read("H100_Llama-3.1-8B", config={}, meta={}).settings
    assert settings.deployment.model.name == "Llama-3.1-8B"
    assert settings.deployment.gpu.name == "H100-SXM"
    assert (settings.max_num_seqs, settings.token_budget, settings.num_blocks) == (256, 2048, None)
    assert settings.prefix_caching
    assert settings.scheduled_ahead
    assert not settings.states_link


@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-30B-A3B-Instruct-2507"])
def test_a_model_tuned_further_has_the_same_shape(name):
    instance = {**HARDWARE, "model_name": name}
    settings = read(meta={}, config={"nodes": [{"instances": [instance]}]}).settings
    assert settings.deployment.model.name in name


def test_requests_are_sorted_by_arrival():
    rows = [REQUEST, {**REQUEST, "arrival_time": 1_700_000_000.25, "queued_ts": 9.75}]
    assert [each.arrival_ns for each in read(requests=rows).measured.requests] == [0, 250 * MS]


@pytest.mark.parametrize(
    ("changes", "file", "where"),
    [
        ({"requests": []}, "requests.jsonl", "line 1"),
        ({"requests": [{**REQUEST, "input_toks": 0}]}, "requests.jsonl", "line 1, input_toks"),
        ({"requests": [REQUEST, {**REQUEST, "queued_ts": "x"}]}, "requests.jsonl", "line 2, queued_ts"),
        ({"requests": [{**REQUEST, "queued_ts": float("nan")}]}, "requests.jsonl", "line 1, queued_ts"),
        ({"requests": [{**REQUEST, "first_token_ts": 9.0}]}, "requests.jsonl", "line 1"),
        ({"requests": [5]}, "requests.jsonl", "line 1"),
        ({"timeseries": "t,running\n1,2\n"}, "timeseries.csv", "line 1"),
        ({"timeseries": "t,running,waiting\n1,2\n"}, "timeseries.csv", "line 2"),
        ({"timeseries": "t,running,waiting\n1,inf,2\n"}, "timeseries.csv", "line 2"),
        ({"meta": []}, "meta.json", "line 1"),
        ({"meta": {"engine_kwargs": {"max_num_seqs": 0}}}, "meta.json", "max_num_seqs"),
        ({"meta": {"engine_kwargs": {"max_num_seqs": "many"}}}, "meta.json", "max_num_seqs"),
        ({"meta": {"engine_kwargs": {"dtype": "int3"}}}, "meta.json", "dtype"),
        ({"meta": {"engine_kwargs": {"data_parallel_size": 2}}}, "meta.json", "data_parallel_size"),
        ({"config": {**CONFIG, "link_bw": -1}}, "config.json", "link_bw"),
    ],
)
def test_what_cannot_be_used_is_named(changes, file, where):
    with pytest.raises(RunFileError) as caught:
        read(**changes)
    assert (caught.value.file, caught.value.where) == (file, where)


def test_requests_have_to_be_there():
    with pytest.raises(RunFileError):
        read_run("H100_Llama-3.1-8B", {})


def test_json_that_is_none_is_named_with_its_line():
    with pytest.raises(RunFileError) as caught:
        read_run("x", {**run_files(), "meta.json": "{\n  5\n}"})
    assert caught.value.where == "line 2"


@pytest.mark.parametrize("kind", ["model_name", "hardware"])
def test_a_name_that_nobody_knows_is_refused(kind):
    instance = {**HARDWARE, kind: "unheard-of"}
    with pytest.raises(UnknownNameError):
        read(meta={}, config={"nodes": [{"instances": [instance]}]})
