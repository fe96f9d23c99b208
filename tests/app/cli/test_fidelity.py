"""`kvscope fidelity` predicts measured runs and shows the error, or says in one sentence why it cannot."""

import json
import re

import pytest

from pycore.fidelity.factors import RUNS
from tests.pycore.fidelity.run_folder import CONFIG, HARDWARE, META, REQUEST, run_files
from tests.shared import shared

QWEN, LLAMA = "RTXPRO6000_Qwen3-32B", "RTX4090_Llama-3.1-8B"


@pytest.fixture
def folder(tmp_path):
    """Writes a run's files and returns its folder."""

    def write(name: str = "H100_Llama-3.1-8B", **changes: object):
        place = tmp_path / name
        place.mkdir()
        for file, content in run_files(**changes).items():
            (place / file).write_text(content)
        return place

    return write


def figures(run: dict) -> dict[tuple[str, str], dict]:
    return {(each["quantity"], each["statistic"]): each for each in run["figures"]}


def test_runs_that_are_carried_along_are_judged_by_factors_of_each_other(kvscope):
    runs = kvscope("fidelity", "--json").document["runs"]
    assert [run["run"] for run in runs] == list(RUNS)
    assert [run["fitted_on"] for run in runs] == list(reversed(RUNS))
    for run in runs:
        found = figures(run)
        goals = {key: each["goal_percent"] for key, each in found.items() if each["goal_percent"]}
        assert goals == {("ttft", "mean"): 15, ("tpot", "mean"): 10, ("makespan", "total"): 10}
        assert all(found[key]["reached"] for key in goals)
        assert found["tpot", "mean"]["predicted"] >= run["least"]["tpot"]
        assert found["makespan", "total"]["predicted"] >= run["least"]["makespan"]
        assert len(set(map(len, run["time_line"]["predicted"].values()))) == 1


def test_the_published_folder_gives_what_is_carried_along(kvscope):
    published = kvscope("fidelity", shared(f"traces/measured_vllm/{QWEN}"), "--json").document["runs"][0]
    carried = kvscope("fidelity", QWEN, "--json").document["runs"][0]
    assert published["fitted_on"] == carried["fitted_on"] == LLAMA
    for ours, theirs in zip(carried["figures"], published["figures"], strict=True):
        assert ours["error_percent"] == pytest.approx(theirs["error_percent"], abs=0.5)


def test_the_table_shows_errors_goals_and_both_time_lines(kvscope, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = kvscope("fidelity", QWEN).out
    assert shown.startswith(f"{QWEN}: Qwen3-32B on 2 GPUs RTX-PRO-6000, 300 requests\n")
    assert f"Factors fitted on {LLAMA}: MFU" in shown
    assert re.search(r"TPOT mean +80\.3 ms +\d+\.\d ms +[+-]\d\.\d % +± 10 %", shown)
    for line in ("running, measured", "running, predicted", "waiting, measured", "waiting, predicted"):
        assert re.search(rf"{line} +[▁▂▃▄▅▆▇█]+ +≤ \d", shown)
    assert "All goals are reached." in shown


def test_factors_can_be_fitted_on_another_run(kvscope):
    run = kvscope("fidelity", LLAMA, "--fit-on", LLAMA, "--json").document["runs"][0]
    assert run["fitted_on"] == LLAMA
    assert run["fitted_on_this_run"]
    assert abs(figures(run)["makespan", "total"]["error_percent"]) < 2


def test_a_run_judged_by_its_own_factors_is_not_called_predicted(kvscope, folder):
    run = folder()
    assert "fitted on this very run" in kvscope("fidelity", run, "--fit-on", run).out


def test_a_folder_never_seen_before_is_predicted_too(kvscope, folder):
    experts = {**HARDWARE, "model_name": "Qwen/Qwen3-30B-A3B", "hardware": "RTXPRO6000", "tp_size": 2}
    meta = {key: value for key, value in META.items() if key != "model"}
    run = kvscope("fidelity", folder(meta=meta, config={"nodes": [{"instances": [experts]}]}), "--json")
    found = run.document["runs"][0]
    assert (found["model"], found["gpu"], found["tp"]) == ("Qwen3-30B-A3B", "RTX-PRO-6000", 2)
    assert found["fitted_on"] == QWEN
    assert not found["settings"]["blocks_stated"]
    assert found["settings"]["num_blocks"] > 1000


def test_a_folder_of_runs_stands_for_all_of_them(kvscope, folder, tmp_path):
    folder("H100_Llama-3.1-8B")
    folder("A100_Llama-3-8B", meta={}, config={})
    runs = kvscope("fidelity", tmp_path, "--json").document["runs"]
    assert [(run["run"], run["gpu"]) for run in runs] == [
        ("A100_Llama-3-8B", "A100-80GB-SXM"),
        ("H100_Llama-3.1-8B", "H100-SXM"),
    ]


def test_a_report_holds_charts_and_tables(kvscope, folder, tmp_path):
    page = tmp_path / "report.html"
    assert kvscope("fidelity", folder(), "--html", page).code == 0
    content = page.read_text()
    assert "Predicted against measured" in content
    assert "Bokeh" in content
    assert "TPOT" in content


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"requests": [{**REQUEST, "output_toks": 0}]},
            "requests.jsonl, line 1, output_toks: “0”, expected 1 …",
        ),
        ({"meta": {**META, "model": "gpt-9"}}, "ran a model of which no figures are known, “gpt-9”"),
        (
            {"config": {"nodes": [{"instances": [{**HARDWARE, "hardware": "TPU"}]}]}},
            "ran on a GPU of which no figures are known, “TPU”",
        ),
        ({"meta": {"engine_kwargs": {"tensor_parallel_size": 3}}}, "meta.json, tp: “3”, expected 1, 2, 4"),
        (
            {"meta": {"model": "Llama-3.1-405B"}, "config": CONFIG},
            "does not fit: each GPU needs",
        ),
        (
            {"meta": {**META, "kv_cache": {"num_gpu_blocks": 10}}},
            "1 of 2 requests end, the others never fit",
        ),
    ],
)
def test_a_run_that_will_not_do_gets_one_sentence(kvscope, folder, changes, sentence):
    requests = [REQUEST, {**REQUEST, "input_toks": 10, "arrival_time": REQUEST["arrival_time"] - 1}]
    outcome = kvscope("fidelity", folder(**{"requests": requests, **changes}))
    assert outcome.code == 2
    assert sentence in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_path_that_is_no_folder_gets_one_sentence(kvscope, tmp_path):
    outcome = kvscope("fidelity", tmp_path / "nowhere")
    assert outcome.code == 2
    assert (
        "is no folder. Expected the folder of a measured run, or one of RTX4090_Llama-3.1-8B" in outcome.err
    )


def test_it_speaks_chinese(kvscope, folder):
    shown = kvscope("fidelity", folder(), "--lang", "zh").out
    assert "2 个请求" in shown
    assert "系数拟合自" in shown


def test_the_document_is_one_line_of_json(kvscope, folder):
    assert json.loads(kvscope("fidelity", folder(), "--json").out)["command"] == "fidelity"


def test_a_folder_without_requests_is_refused_by_the_name_of_the_file(refused, tmp_path):
    assert "… has no file requests.jsonl; expected the folder" in refused("fidelity", tmp_path / ".")
