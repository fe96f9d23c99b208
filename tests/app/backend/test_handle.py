"""One door: every request gets a response of the same shape, and none raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backend.handle import Handler

SHAPE = {"version", "kind", "sources", "texts", "notices", "error", "settings"}
CSV = b"arrival_s,prompt,output\n" + b"".join(b"%d,%d,9\n" % (i // 3, 10 + i % 7) for i in range(60))


def finish(handler: Handler, response: dict) -> tuple[dict, list[dict]]:
    """The last response of a job, and the progress on the way."""
    seen = []
    while "more" in response:
        seen.append(response["progress"])
        response = handler.handle({"kind": "continue", "job": response["more"]})
    return response, seen


def replay(data, **request) -> dict:
    handler = Handler()
    return finish(handler, handler.handle({"kind": "replay", "name": "t.csv", "data": data, **request}))[0]


def test_a_simulation_comes_as_a_recording_with_the_settings_used():
    response = Handler().handle({"kind": "simulate", "settings": {"steps": "3"}})
    assert response.keys() == SHAPE
    assert response["error"] is None
    assert response["settings"]["steps"] == 3
    assert response["sources"]["recording"]["steps"] == 3


def test_the_same_settings_give_the_same_response():
    request = {"kind": "simulate", "settings": {"order": "shuffled"}}
    assert json.dumps(Handler().handle(request)) == json.dumps(Handler().handle(request))


@given(st.none() | st.text() | st.integers() | st.lists(st.integers()))
def test_an_unknown_kind_is_answered_with_a_sentence(kind):
    response = Handler().handle({"kind": kind})
    assert response["error"]["en"].startswith("The page sent a request that is not known")
    assert response["error"]["zh"]


def test_a_replay_ends_every_request():
    result = replay(CSV)["sources"]["replay"]
    assert (result["num_requests"], result["num_finished"], result["num_rejected"]) == (60, 60, 0)


def test_a_long_replay_comes_in_slices_and_shows_progress(monkeypatch):
    monkeypatch.setattr("app.backend.jobs.SLICE_S", 0)
    monkeypatch.setattr("app.backend.replay.STEPS_AT_ONCE", 8)
    handler = Handler()
    first = handler.handle({"kind": "replay", "name": "t.csv", "data": CSV})
    assert first["sources"] == {}
    response, seen = finish(handler, first)
    assert response["sources"]["replay"]["num_finished"] == 60
    done = [step["done"] for step in seen]
    assert done == sorted(done)
    assert len(done) > 2


@pytest.mark.parametrize("name", ["refcount_bug", "nobody's"])
def test_how_many_slices_a_job_took_does_not_show_in_its_answer(monkeypatch, name):
    answers = []
    for slice_s in (0, 3600):
        monkeypatch.setattr("app.backend.jobs.SLICE_S", slice_s)
        handler = Handler()
        response, seen = finish(handler, handler.handle({"kind": "experiment", "name": name, "settings": {}}))
        answers.append((response, len(seen)))
    assert answers[0][0] == answers[1][0]
    assert answers[0][0]["kind"] == "experiment"
    assert name != "refcount_bug" or answers[0][1] > answers[1][1]


def test_a_cancelled_job_is_gone(monkeypatch):
    monkeypatch.setattr("app.backend.jobs.SLICE_S", 0)
    handler = Handler()
    job = handler.handle({"kind": "replay", "name": "t.csv", "data": CSV})["more"]
    assert handler.handle({"kind": "cancel", "job": job})["error"] is None
    assert handler.handle({"kind": "continue", "job": job})["error"]["en"].startswith("This run is over")


@pytest.mark.parametrize("job", [None, -1, "x", [1], {}])
def test_a_job_that_never_was_is_answered_with_a_sentence(job):
    for kind in ("continue", "cancel"):
        response = Handler().handle({"kind": kind, "job": job})
        assert (response["error"] is None) == (kind == "cancel")


@pytest.mark.parametrize(
    "data", [b"", b"\0\1\2", "no,columns\n1,2\n", b"prompt,output\nx,y\n", "\ufeff", None]
)
def test_a_file_that_is_no_trace_is_told_why(data):
    response = replay(data)
    assert response["error"]["en"].startswith("t.csv cannot be replayed. ")
    assert response["error"]["zh"]
    assert response["sources"] == {}


def test_bad_rows_are_left_out_and_named():
    response = replay(CSV + b"9,<b>,1\n9,-3,1\n")
    assert response["sources"]["replay"]["num_requests"] == 60
    told = [notice["en"] for notice in response["notices"]]
    assert "2 of 62 rows are bad and were left out; 60 are replayed." in told
    assert any("<b>" in sentence and "62" in sentence for sentence in told)


def test_the_first_bad_row_stops_a_replay_that_keeps_none():
    response = replay(CSV + b"9,<b>,1\n", keep=False)
    assert "<b>" in response["error"]["en"]
    assert response["error"]["remedy"] == "keep_good"


@pytest.mark.parametrize("data", [b"", b"\0\1\2", b"name,size\n1,2\n"])
def test_nothing_can_be_kept_of_a_file_that_is_no_trace(data):
    assert replay(data, keep=False)["error"]["remedy"] == ""


def test_a_prompt_larger_than_the_pool_is_rejected_and_counted():
    response = replay(b"prompt,output\n500,3\n20,3\n", settings={"blocks": 8, "bs": 16})
    result = response["sources"]["replay"]
    assert result["rejected"] == {"pool": 1}
    assert result["num_finished"] == 1


def test_a_file_name_is_repeated_as_text():
    response = replay(b"", name="<script>alert(1)</script>.csv")
    assert "<script>alert(1)</script>.csv" in response["error"]["en"]


@pytest.mark.parametrize("mode", ["paged", "contiguous"])
@pytest.mark.parametrize("sc", ["parallel_chat", "beam", "system_prompt", "mixed_decoding"])
def test_the_loads_that_share_are_recorded_with_both_recoveries(sc, mode):
    for rec in ("recompute", "swap"):
        answer = Handler().handle({"kind": "simulate", "settings": {"sc": sc, "mode": mode, "rec": rec}})
        assert answer["error"] is None
        assert answer["notices"] == []
        assert answer["sources"]["recording"]["frames"]["finished"][-1] > 0


def test_swapping_needs_cpu_blocks_to_swap_to():
    def kinds(cpu: int) -> set[str]:
        settings = {"sc": "parallel_chat", "rec": "swap", "cpu": cpu}
        answer = Handler().handle({"kind": "simulate", "settings": settings})
        return set(answer["sources"]["recording"]["events"]["kind"])

    assert {"SwappedOut", "SwappedIn"} <= kinds(64)
    assert not kinds(0) & {"SwappedOut", "SwappedIn"}
    assert "Preempted" in kinds(0)


def test_a_prefix_that_would_fill_the_pool_is_not_kept_and_that_is_told():
    settings = {"sc": "system_prompt", "blocks": 5}
    answer = Handler().handle({"kind": "simulate", "settings": settings})
    assert [each["key"] for each in answer["notices"]] == ["notice.prefix"]
    assert "22" in answer["notices"][0]["en"]


def _nested(depth):
    lists = []
    for _ in range(depth):
        lists = [lists]
    return lists


HOSTILE = [
    None,
    True,
    -1,
    10**400,
    10**5000,
    1e308,
    float("nan"),
    "9" * 5000,
    "\ud800",
    "<b>",
    b"abc",
    [1],
    {"a": []},
]
TRACE = "arrival_s,prompt,output\n0,10,5\n1,20,3\n"


@pytest.mark.parametrize("value", [*HOSTILE, _nested(3000)], ids=lambda value: type(value).__name__)
def test_whatever_is_asked_gets_a_response_that_can_be_written_as_json(value):
    requests = [value, {"kind": value}]
    requests += [{"kind": kind, "settings": value} for kind in ("sizing", "replay")]
    requests += [{"kind": "sizing", "settings": {key: value}} for key in ("model", "tp", "util", "kvbits")]
    requests += [
        {"kind": "replay", "data": TRACE, key: value} for key in ("name", "keep", "load", "settings")
    ]
    requests += [{"kind": "replay", "data": TRACE, "settings": {key: value}} for key in ("wm", "bs", "mode")]
    requests += [
        {"kind": "replay", "data": value},
        *({"kind": kind, "job": value} for kind in ("stop", "continue")),
    ]
    for request in requests:
        response = Handler().handle(request)
        json.dumps(response, allow_nan=False, ensure_ascii=False).encode()
        if response["error"]:
            assert response["error"]["en"]
            assert response["error"]["zh"]


def test_a_longest_request_of_one_token_is_corrected_as_it_has_no_room_for_an_answer():
    response = Handler().handle({"kind": "replay", "data": TRACE, "settings": {"maxlen": 1}})
    assert response["settings"]["maxlen"] == 2
    assert "0, 2 … 10,000,000" in response["notices"][0]["en"]


def test_a_tree_of_too_many_pages_is_refused_before_memory_is_taken():
    settings = {"cache": "radix", "blocks": 10_000_000, "bs": 1024}
    response = Handler().handle({"kind": "replay", "data": TRACE, "settings": settings})
    assert "10,240,000,000 tokens" in response["error"]["en"]
