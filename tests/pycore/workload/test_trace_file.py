"""Trace files that are read whole: real ones, every format, limits and progress."""

import codecs
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.workload.trace_cell import MAX_LENGTH
from pycore.workload.trace_file import PROGRESS_ROWS, Progress, read_trace, read_trace_path
from pycore.workload.trace_problem import TraceError
from tests.shared import shared

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


def rows(trace):
    return [(r.arrival_ns, r.prompt_len, r.output_len) for r in trace.requests]


def problems(trace):
    return [(p.line, p.column, p.value, p.code) for p in trace.problems]


@pytest.mark.parametrize(
    ("path", "form", "unit", "count", "prompt_mean", "output_mean", "span_s"),
    [
        ("azure2023_conv.csv", "azure", "date-time", 19_366, 1154.7, 211.1, 3501.7),
        ("azure2023_code.csv", "azure", "date-time", 8_819, 2047.8, 27.9, 3435.9),
        ("mooncake_conversation.jsonl", "mooncake", "ms", 12_031, 12035.1, 342.6, 3537.0),
        ("mooncake_synthetic.jsonl", "mooncake", "ms", 3_993, 15325.5, 149.1, 1022.0),
        ("arxiv_summarization_lengths.csv", "csv", None, 28_257, 2588.1, 291.4, 0.0),
        ("sharegpt300_llama31_hash16.jsonl", "hash_ids", "s", 300, 857.5, 652.5, 29.1),
    ],
)
def test_real_trace_is_read_whole(path, form, unit, count, prompt_mean, output_mean, span_s):
    trace = read_trace_path(shared(f"traces/{path}"))
    assert (trace.name, trace.format, trace.unit) == (path, form, unit)
    assert (len(trace.requests), trace.total_rows, trace.bad_rows) == (count, count, 0)
    assert not trace.resorted
    assert not trace.truncated
    assert trace.has_arrivals == (unit is not None)
    assert [r.id for r in trace.requests] == list(range(count))
    assert round(sum(r.prompt_len for r in trace.requests) / count, 1) == prompt_mean
    assert round(sum(r.output_len for r in trace.requests) / count, 1) == output_mean
    assert trace.requests[0].arrival_ns == 0
    assert round(trace.requests[-1].arrival_ns / 1e9, 1) == span_s


def test_real_trace_gives_the_same_from_disk_from_bytes_from_text_and_as_the_crlf_original():
    path = shared("traces/azure2023_code.csv")
    data = path.read_bytes()
    from_disk = read_trace_path(path, limit=500)
    original = data.replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    for content in (data, data.decode(), original):
        assert read_trace(content, path.name, limit=500) == from_disk


def test_mooncake_requests_that_share_a_stamp_keep_the_order_of_the_file():
    path = shared("traces/mooncake_conversation.jsonl")
    expected = [(o["input_length"], o["output_length"]) for o in map(json.loads, path.open(encoding="utf-8"))]
    assert [(r.prompt_len, r.output_len) for r in read_trace_path(path).requests] == expected


def test_azure_stamps_with_seven_digits_and_with_offsets_are_exact():
    trace = read_trace(
        AZURE
        + "2023-11-16 23:59:59.9799600,4808,10\n2023-11-17 00:00:00,1,1\n2023-11-17 00:00:00.0000001,2,2\n"
        + "2023-11-17 02:00:00.009930+02:00,3,3\n2023-11-16T19:00:01-05:00,4,4\n2023-11-17 00:00:02Z,5,5",
        "a.csv",
    )
    assert trace.format == "azure"
    assert [r.arrival_ns for r in trace.requests] == [
        0, 20_040_000, 20_040_100, 29_970_000, 1_020_040_000, 2_020_040_000
    ]  # fmt: skip


@pytest.mark.parametrize(
    "header",
    [
        "prompt,output", "Prompt_Tokens,Output_Tokens", "prompt_len,output_len", "input_length,output_length",
        "input_tokens,completion_tokens", "num_prefill_tokens,num_decode_tokens",
        "context_tokens,generated_tokens",
        "ContextTokens,GeneratedTokens", "Request tokens,Response tokens",
        "input_toks,output_toks", '"prompt","output"',
    ],
)  # fmt: skip
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_usual_column_names_and_delimiters_are_found(header, delimiter):
    trace = read_trace(f"{header},x\n7,3,\n8,4,y\n".replace(",", delimiter), "a.csv")
    assert rows(trace) == [(0, 7, 3), (0, 8, 4)]
    assert [n.code for n in trace.notices] == ["no_arrivals"]


def test_token_columns_win_over_columns_of_text():
    trace = read_trace('prompt,output,prompt_tokens,output_tokens\n"Say ""hi"",\nplease",hi,5,1\n', "a.csv")
    assert rows(trace) == [(0, 5, 1)]


@pytest.mark.parametrize(
    ("name", "unit", "assumed"),
    [
        ("arrival_s", "s", False), ("arrival_ms", "ms", False), ("arrival_us", "us", False),
        ("arrival_ns", "ns", False), ("timestamp", "s", True), ("Timestamp", "s", True),
        ("arrived_at", "s", True),
    ],
)  # fmt: skip
def test_unit_of_arrivals_is_told_by_the_name_or_assumed_and_said(name, unit, assumed):
    trace = read_trace(f"{name},prompt,output\n5,1,1\n7,1,1\n", "a.csv")
    assert trace.unit == unit
    assert trace.requests[1].arrival_ns == 2 * {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[unit]
    assert [(n.code, n.expected) for n in trace.notices] == ([("assumed_unit", unit)] if assumed else [])


def test_burstgpt_rows_with_zero_tokens_are_left_out_and_named():
    data = (
        "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,1,2.5,ChatGPT,472,18,490,Conversation log\n"
        "45.5,1,2,GPT-4,0,0,0,API log\n118,,,ChatGPT,1087,230,1317,API log\n"
    )
    trace = read_trace(data, "BurstGPT_1.csv")
    assert rows(trace) == [(0, 472, 18), (113 * 10**9, 1087, 230)]
    assert problems(trace) == [(3, "Request tokens", "0", "not_positive")]


def test_jsonl_timestamp_is_in_ms_for_mooncake_and_in_s_otherwise():
    mooncake = '{"timestamp": %d, "input_length": 9, "output_length": 2, "hash_ids": [0]}\n'
    bailian = '{"chat_id": 1, "timestamp": %d, "input_length": 9, "output_length": 2, "hash_ids": [0]}\n'
    assert rows(read_trace(mooncake % 1 + mooncake % 3, "m.jsonl"))[1] == (2 * 10**6, 9, 2)
    assert rows(read_trace(bailian % 1 + bailian % 3, "q.jsonl"))[1] == (2 * 10**9, 9, 2)


def test_json_is_known_by_its_first_line_whatever_the_name():
    assert read_trace('{"prompt": 1, "output": "2"}', "trace.txt").format == "jsonl"


def test_arrivals_are_decimal_text_not_floats():
    lines = [
        f'{{"arrival_s": {stamp}, "prompt": 1, "output": 1}}'
        for stamp in ("0.1", "1e-1", "1700000000.123456789")
    ]
    trace = read_trace("\n".join(lines), "a.jsonl")
    assert [r.arrival_ns for r in trace.requests] == [0, 0, 1_700_000_000_023_456_789]


def test_unsorted_arrivals_are_sorted_stably_and_said():
    trace = read_trace("arrival_ms,prompt,output\n3,1,1\n-1,2,1\n3,3,1\n-1,4,1\n", "a.csv")
    assert [(r.id, r.arrival_ns, r.prompt_len) for r in trace.requests] == [
        (0, 0, 2), (1, 0, 4), (2, 4_000_000, 1), (3, 4_000_000, 3)
    ]  # fmt: skip
    assert trace.resorted
    (notice,) = trace.notices
    assert (notice.line, notice.column, notice.value, notice.code, notice.expected) == (
        3, "arrival_ms", "-1", "unsorted", "3"
    )  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_no_part_of_the_header(encoding):
    assert rows(read_trace("prompt,output\n7,3\n".encode(encoding), "a.csv")) == [(0, 7, 3)]
    big_endian = codecs.BOM_UTF16_BE + "prompt,output\n7,3\n".encode("utf-16-be")
    assert rows(read_trace(big_endian, "a.csv")) == [(0, 7, 3)]


def test_mixed_line_ends_blank_lines_and_no_final_newline():
    trace = read_trace(b"\n\r\nprompt,output\r\n1,1\n\n2,2\r3,3\r\n  \n4,x\n5,5", "a.csv")
    assert [r.prompt_len for r in trace.requests] == [1, 2, 3, 5]
    assert problems(trace) == [(9, "output", "x", "not_a_number")]


def test_undecodable_bytes_in_a_column_that_is_not_read_do_no_harm():
    assert rows(read_trace(b"prompt,output,user\n7,3,Jos\xe9\n", "a.csv")) == [(0, 7, 3)]


def test_limit_counts_good_rows_in_the_order_of_the_file():
    data = "arrival_s,prompt,output\n3,1,1\n0,0,1\n2,2,1\n1,3,1\n"
    trace = read_trace(data, "a.csv", limit=2)
    assert rows(trace) == [(0, 2, 1), (10**9, 1, 1)]
    assert (trace.total_rows, trace.bad_rows, trace.truncated) == (3, 1, True)
    assert not read_trace(data + "\n\n", "a.csv", limit=3).truncated
    with pytest.raises(ValueError, match="limit"):
        read_trace(data, "a.csv", limit=0)


def test_progress_is_reported_and_can_stop_the_reading(tmp_path):
    data = "prompt,output\n" + "7,3\n" * 35_000
    path = tmp_path / "long.csv"
    path.write_text(data, encoding="utf-8")
    seen: list[Progress] = []
    read_trace_path(path, progress=seen.append)
    assert [p.rows for p in seen] == [PROGRESS_ROWS, 2 * PROGRESS_ROWS, 3 * PROGRESS_ROWS, 35_000]
    assert seen[0].done < seen[1].done < seen[2].done <= seen[3].done == seen[3].total == len(data)

    class StopReadingError(Exception):
        pass

    def stop(progress):
        if progress.rows >= 2 * PROGRESS_ROWS:
            raise StopReadingError

    with pytest.raises(StopReadingError):
        read_trace(data, "a.csv", progress=stop)


def test_progress_goes_on_through_bad_rows():
    seen: list[Progress] = []
    with pytest.raises(TraceError):
        read_trace("prompt,output\n" + "1\n" * 25_000, "a.csv", progress=seen.append)
    assert [p.rows for p in seen] == [PROGRESS_ROWS, 2 * PROGRESS_ROWS, 25_000]


length = st.integers(1, MAX_LENGTH)
arrival_ns = st.integers(0, 10**16)
requests = st.lists(st.tuples(arrival_ns, length, length), min_size=1, max_size=30)


def expected(listed):
    first = min(at for at, _, _ in listed)
    return [(at - first, p, o) for at, p, o in sorted(listed, key=lambda row: row[0])]


def decimal_s(ns):
    return f"{ns // 10**9}.{ns % 10**9:09d}"


@given(requests, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_csv_round_trip(listed, delimiter, newline, quoted):
    quote = '"' if quoted else ""
    lines = [["model", "arrival_s", "output_tokens", "prompt_tokens"]]
    lines += [["m", decimal_s(at), str(o), f"{quote}{p}{quote}"] for at, p, o in listed]
    trace = read_trace(newline.join(delimiter.join(line) for line in lines), "a.csv")
    assert rows(trace) == expected(listed)
    assert trace.problems == ()


@given(requests)
def test_jsonl_round_trip(listed):
    lines = [
        f'{{"arrival_s": {decimal_s(at)}, "input_length": {p}, "output_length": {o}}}' for at, p, o in listed
    ]
    assert rows(read_trace("\n".join(lines), "a.jsonl")) == expected(listed)


@given(requests)
def test_azure_round_trip(listed):
    """Within one day, to the 100 ns that seven digits hold."""
    day = [(at % (24 * 3600 * 10**9) // 100 * 100, p, o) for at, p, o in listed]
    lines = []
    for at, p, o in day:
        s, fraction = at // 10**9, at % 10**9 // 100
        lines.append(f"2024-05-10 {s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}.{fraction:07d},{p},{o}\r\n")
    assert rows(read_trace(AZURE + "".join(lines), "a.csv")) == expected(day)
