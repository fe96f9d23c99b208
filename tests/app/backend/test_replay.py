"""A replay as the page asks for it: loads that come along, jobs that are stopped, what comes with it."""

import pytest

from app.backend.handle import Handler
from app.backend.replay_loads import BUILT_IN

CSV = b"arrival_s,prompt,output\n" + b"".join(
    b"%d,%d,%d\n" % (i // 3, 10 + i % 7, 2 + i % 9) for i in range(60)
)


@pytest.fixture
def slices(monkeypatch):
    """A job stops for breath as often as it can."""
    monkeypatch.setattr("app.backend.jobs.SLICE_S", 0)
    monkeypatch.setattr("app.backend.replay.STEPS_AT_ONCE", 8)


def replay(**request) -> dict:
    handler = Handler()
    response = handler.handle({"kind": "replay", **request})
    while "more" in response:
        response = handler.handle({"kind": "continue", "job": response["more"]})
    return response


def test_a_load_that_comes_along_needs_no_file():
    for load in BUILT_IN:
        response = replay(load=load, settings={"limit": 40})
        result = response["sources"]["replay"]
        assert response["error"] is None
        assert (result["name"], result["format"], result["num_requests"]) == (load, "built-in", 40)
        assert result["num_finished"] == 40
        assert not result["partial"]


def test_a_load_follows_seed_and_speed():
    first, again, other, faster = (
        replay(load="chat", settings={"limit": 60, **changed})["sources"]["replay"]
        for changed in ({}, {}, {"seed": 6}, {"speed": 4})
    )
    assert first == again
    assert first["tokens_in"] != other["tokens_in"]
    assert first["tokens_in"] == faster["tokens_in"]
    assert first["mean_running"] < faster["mean_running"]


def test_only_the_load_whose_prompts_share_something_has_hit_rates_and_finds_it_again():
    alone = replay(load="chat", settings={"limit": 60})["sources"]
    shared = replay(load="shared", settings={"limit": 60, "cache": "radix"})["sources"]
    assert "hit_rates" not in alone
    assert shared["hit_rates"]["num_requests"] == 60
    assert shared["replay"]["prefix"]["hit_rate"] > 0.2


@pytest.mark.parametrize("load", ["nope", "<b>", 7, ["chat"]])
def test_an_unknown_load_is_answered_with_those_there_are(load):
    error = replay(load=load)["error"]
    assert "chat, long, shared" in error["en"]
    assert error["zh"]


def test_an_endless_load_is_cut_and_that_is_told(monkeypatch):
    monkeypatch.setattr("app.backend.replay.MOST_REQUESTS", 30)
    response = replay(load="chat", settings={"limit": 10**7})
    assert response["sources"]["replay"]["num_requests"] == 30
    assert [each["key"] for each in response["notices"]] == ["replay.load.most"]


def test_percentiles_of_the_latencies_come_with_the_result_and_agree_with_it():
    result = replay(name="t.csv", data=CSV)["sources"]["replay"]
    for name, values in result["percentiles"].items():
        assert len(values) == 101
        assert values == sorted(values)
        assert {p: values[at] for p, at in (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100))} == {
            part: result[name][part] for part in ("p50", "p90", "p99", "max")
        }


def test_a_stopped_replay_keeps_what_was_measured(slices):
    handler = Handler()
    request = {"kind": "replay", "name": "t.csv", "data": CSV, "settings": {"blocks": 4}}
    response = handler.handle(request)
    while response["progress"]["done"] < response["progress"]["total"] / 2:
        response = handler.handle({"kind": "continue", "job": response["more"]})
    stopped = handler.handle({"kind": "stop", "job": response["more"]})
    result = stopped["sources"]["replay"]
    assert result["partial"]
    assert 0 < result["num_finished"] < result["num_requests"] == 60
    assert len(result["percentiles"]["ttft"]) == 101
    assert [each["key"] for each in stopped["notices"]] == ["replay.partial"]
    assert "of 60" in stopped["notices"][0]["en"]
    gone = handler.handle({"kind": "continue", "job": response["more"]})
    assert gone["error"]["en"].startswith("This run is over")


def test_a_replay_stopped_before_its_first_step_keeps_nothing(slices):
    handler = Handler()
    response = handler.handle({"kind": "replay", "name": "t.csv", "data": CSV})
    assert handler.handle({"kind": "stop", "job": response["more"]})["sources"] == {}


def test_hit_rates_that_are_stopped_leave_the_replay_whole(slices):
    handler = Handler()
    response = handler.handle({"kind": "replay", "load": "shared", "settings": {"limit": 200}})
    while response["progress"]["done"] <= 850:
        response = handler.handle({"kind": "continue", "job": response["more"]})
    stopped = handler.handle({"kind": "stop", "job": response["more"]})["sources"]
    assert "hit_rates" not in stopped
    assert not stopped["replay"]["partial"]


def test_a_job_that_keeps_nothing_can_be_stopped_and_so_can_one_that_never_was(slices):
    handler = Handler()
    job = handler.handle({"kind": "experiment", "name": "refcount_bug"}).get("more", 99)
    response = handler.handle({"kind": "stop", "job": job})
    assert (response["error"], response["sources"]) == (None, {})


def test_settings_that_do_not_go_together_are_corrected_and_told():
    response = replay(load="chat", settings={"limit": 5, "mode": "contiguous", "cache": "radix"})
    assert response["settings"]["cache"] == "none"
    assert [each["key"] for each in response["notices"]] == ["notice.agree"]


def test_weights_that_do_not_fit_are_answered_with_what_would():
    error = replay(load="chat", settings={"model": "Llama-3-70B", "limit": 5})["error"]
    assert {"tp"} <= {key for offer in error["offers"] for key in offer}


def test_requests_that_wait_for_ever_are_told():
    response = replay(load="chat", settings={"limit": 60, "rules": "vllm-v1", "blocks": 40})
    result = response["sources"]["replay"]
    assert result["num_hung"] == 60 - result["num_finished"] - result["num_rejected"] > 0
    [told] = [each for each in response["notices"] if each["key"] == "replay.hung"]
    assert f"{result['num_hung']} of 60 requests never end: r{result['hung_on']}" in told["en"]
    assert not [
        each
        for each in replay(load="chat", settings={"limit": 60, "blocks": 40})["notices"]
        if each["key"] == "replay.hung"
    ]
