"""What is said of bad rows and bad files, and that nothing worse comes of them."""

import contextlib
import json
import re
import string
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pycore.workload.trace_file import read_trace, read_trace_path
from pycore.workload.trace_problem import FILE_CODES, NOTICE_CODES, ROW_CODES, TraceError

TEXT = Path(__file__).resolve().parents[3] / "static" / "text"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
GOOD = '{"prompt": 1, "output": 1}'


def rows(trace):
    return [(r.arrival_ns, r.prompt_len, r.output_len) for r in trace.requests]


def problems(trace):
    return [(p.line, p.column, p.value, p.code) for p in trace.problems]


def failure(data, name="t.csv", **options):
    with pytest.raises(TraceError) as caught:
        read_trace(data, name, **options)
    return caught.value.problem


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("abc", "not_a_number"), ("1_000", "not_a_number"), ("0x10", "not_a_number"), ("--1", "not_a_number"),
        (".", "not_a_number"), ("e5", "not_a_number"), ("<script>alert(1)</script>", "not_a_number"),
        ("", "missing_value"), ("  ", "missing_value"),
        ("nan", "not_finite"), ("NaN", "not_finite"), ("-inf", "not_finite"), ("Infinity", "not_finite"),
        ("12.5", "not_whole"), ("0.5", "not_whole"), ("1e-400", "not_whole"),
        ("0", "not_positive"), ("0.0", "not_positive"), ("-3", "not_positive"), ("-1e400", "not_positive"),
        ("10000001", "too_large"), ("1e400", "too_large"), ("1e99999999999", "too_large"),
        ("9" * 5000, "too_large"),
    ],
)  # fmt: skip
def test_bad_length_is_named_with_its_place_in_csv_and_jsonl(cell, code):
    quoted = json.dumps(cell)
    for data in (
        f"prompt,output\n1,1\n1,{cell}\n2,2\n",
        f'{GOOD}\n{{"prompt": 1, "output": {quoted}}}\n{{"prompt": 2, "output": 2}}',
    ):
        trace = read_trace(data, "a")
        assert rows(trace) == [(0, 1, 1), (0, 2, 2)]
        (problem,) = trace.problems
        assert (problem.column, problem.code, problem.expected) == ("output", code, "1..10000000")
        assert problem.line == (3 if data.startswith("prompt") else 2)
        assert len(problem.value) <= 40
        assert problem.value == cell.strip() or (
            problem.value.endswith("…") and cell.startswith(problem.value[:39])
        )


@pytest.mark.parametrize("cell", ["12", "12.0", " 12 ", "+12", "012", "1.2e1", "120e-1"])
def test_whole_numbers_are_accepted_however_written(cell):
    assert rows(read_trace(f"prompt,output\n{cell},1\n", "a.csv")) == [(0, 12, 1)]


@pytest.mark.parametrize(
    "value", ["true", "false", "[1]", '{"a": 1}', "null", "NaN", "-Infinity", "1e400", "12.5"]
)
def test_json_values_that_are_no_whole_number_are_refused(value):
    data = f'{GOOD}\n{{"prompt": {value}, "output": 1}}'
    trace = read_trace(data, "a.jsonl")
    assert len(trace.requests) == 1
    assert (trace.problems[0].line, trace.problems[0].column) == (2, "prompt")


@pytest.mark.parametrize(
    "stamp",
    [
        "yesterday", "2023-02-30 00:00:00", "2023-11-16 24:00:00", "2023-11-16 23:60:00",
        "2023-11-16 23:00:60",
        "2023-11-16", "2023-11-16 23:00:00+25:00", "2023-11-16 18:15:46.", "2023-11-16 18:15:60.5",
        "0000-01-01 00:00:00",
        "17", "2023-11-16 18:15:46.1x", "2023-11-16 18:15:46.1+0a:00",
    ],
)  # fmt: skip
def test_bad_stamp_is_named_and_left_out(stamp):
    trace = read_trace(f"{AZURE}2023-11-16 18:15:46.5,1,1\n{stamp},2,2\n2023-11-16 18:15:47.5,3,3\n", "a.csv")
    assert rows(trace) == [(0, 1, 1), (10**9, 3, 3)]
    assert problems(trace) == [(3, "TIMESTAMP", stamp, "bad_time")]


def test_first_readable_cell_decides_whether_a_column_holds_numbers_or_date_times():
    trace = read_trace(
        "timestamp,prompt,output\nnone,1,1\n,1,1\n5,2,2\n2023-11-16 18:15:46,3,3\n6,4,4", "a.csv"
    )
    assert rows(trace) == [(0, 2, 2), (10**9, 4, 4)]
    assert [(p.line, p.code) for p in trace.problems] == [
        (2, "bad_time"),
        (3, "missing_value"),
        (5, "bad_time"),
    ]


@pytest.mark.parametrize("cell", ["nan", "inf", "1e400", "x", "1e11"])
def test_bad_numeric_arrival_says_the_unit(cell):
    trace = read_trace(f"arrival_ms,prompt,output\n0,1,1\n{cell.replace('1e11', '1e14')},1,1", "a.csv")
    assert trace.problems[0].code == "bad_time"
    assert trace.problems[0].expected == "-1e13..1e13 ms"


def test_rows_of_another_width_than_the_header_are_left_out():
    trace = read_trace("prompt,output,model\n1,1,a\n1,234\n1,234,5,a\n2,2,b,,\n", "a.csv")
    assert rows(trace) == [(0, 1, 1), (0, 2, 2)]
    assert [(p.line, p.code, p.expected) for p in trace.problems] == [
        (3, "short_row", "3"),
        (4, "long_row", "3"),
    ]


def test_quote_left_open_spoils_its_own_row_only():
    trace = read_trace('prompt,output\n1,1\n"2,2\n3,3\n"4",4\n5,"5"\n', "a.csv")
    assert [r.prompt_len for r in trace.requests] == [1, 3, 4, 5]
    assert problems(trace) == [(3, None, '"2,2', "bad_quotes")]


def test_line_numbers_hold_after_cells_over_several_lines():
    trace = read_trace('prompt,output,text\n1,1,"a\nb\n\nc"\nx,1,\n"y\n",1,\n', "a.csv")
    assert [(p.line, p.value) for p in trace.problems] == [(6, "x"), (7, "y")]


def test_bad_json_lines_are_left_out():
    lines = [
        GOOD,
        "{",
        "[1, 2]",
        "7",
        '{"prompt": 1}',
        "[" * 200_000,
        '{"a":' * 50_000,
        '{"prompt":2,"prompt":3,"output":1}',
        GOOD,
    ]
    trace = read_trace("\n".join(lines), "a.jsonl")
    assert [r.prompt_len for r in trace.requests] == [1, 3, 1]
    assert [(p.line, p.code) for p in trace.problems] == [
        (2, "bad_json"), (3, "bad_json"), (4, "bad_json"), (5, "missing_column"),
        (6, "bad_json"), (7, "bad_json")
    ]  # fmt: skip


def test_control_characters_never_reach_a_problem_and_markup_stays_text():
    trace = read_trace("prompt,output\n1,1\n\x1b[31m<script>\x07,1\n", "a.csv")
    assert trace.problems[0].value == "\ufffd[31m<script>\ufffd"


def test_all_bad_rows_are_counted_and_the_first_hundred_kept():
    trace = read_trace("prompt,output\n1,1\n" + "0,1\n" * 25_000, "a.csv")
    assert (trace.total_rows, trace.bad_rows, len(trace.problems)) == (25_001, 25_000, 100)
    assert trace.problems[-1].line == 102


def test_first_bad_row_is_an_error_if_good_rows_are_not_to_be_kept():
    problem = failure("prompt,output\n1,1\n0,1\n2,2\n", keep_good=False)
    assert (problem.line, problem.column, problem.code) == (3, "prompt", "not_positive")


@pytest.mark.parametrize(
    ("data", "line", "code"),
    [
        (b"", 1, "empty"), (b"\xef\xbb\xbf", 1, "empty"), (b" \n\r\n\n", 1, "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 1, "binary"), (b"\x1f\x8b\x08\x08\xd3\xff\x00", 1, "binary"),
        (b"\xff\xd8\xff\xe0 JFIF", 1, "binary"), ("prompt,output\n1,1".encode("utf-16-le"), 1, "binary"),
        (b"a,b\n1,2\n", 1, "no_prompt_column"), (b"\nprompt;b\n1;2\n", 2, "no_output_column"),
        (b"3772,54\n1,2\n", 1, "no_prompt_column"), (b"prompt,output\n\n", 1, "no_rows"),
        (b"prompt,output\n0,1\n", 1, "no_good_row"), (b'[\n{"prompt": 1, "output": 1},\n]', 1, "no_good_row"),
        (b'"prompt,output\n1,1\n', 1, "no_prompt_column"),
    ],
)  # fmt: skip
def test_file_without_a_trace_gives_one_problem_first(data, line, code):
    problem = failure(data)
    assert (problem.line, problem.code) == (line, code)


def test_file_without_a_good_row_still_names_the_bad_ones():
    with pytest.raises(TraceError) as caught:
        read_trace("prompt,output\n0,1\n1,x\n", "bad.csv")
    assert [p.code for p in caught.value.problems] == ["no_good_row", "not_positive", "not_a_number"]
    assert "bad.csv" in str(caught.value)


def test_missing_path_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_trace_path(tmp_path / "none.csv")


@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.jsonl"]))
@example(b"\xff\xfe\xd8", "a.csv")
@example(b"\xef\xbb\xbf[", "a.csv")
def test_arbitrary_bytes_raise_nothing_but_a_trace_error(data, name):
    for content in (data, b"prompt,output\n1,1\n" + data, b'{"prompt":1,"output":1,"timestamp":1}\n' + data):
        with contextlib.suppress(TraceError):
            trace = read_trace(content, name)
            assert len(trace.requests) == trace.total_rows - trace.bad_rows >= 1


@given(st.text(alphabet=string.digits + '.,;"-+eE \t\n\r{}[]:ntaf<\ud800', max_size=200))
def test_hostile_text_after_a_header_raises_nothing_but_a_trace_error(text):
    for header in ("timestamp,prompt,output\n", "timestamp;prompt;output\n"):
        trace = read_trace(header + "1;1;1\n1,1,1\n" + text, "a.csv")
        assert len(trace.requests) >= 1
        for problem in trace.problems + trace.notices:
            assert problem.value.isprintable()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_code_has_a_text_that_uses_known_fields(lang):
    texts = json.loads((TEXT / lang / "trace.json").read_text(encoding="utf-8"))
    assert sorted(texts) == sorted(f"trace.{code}" for code in FILE_CODES + ROW_CODES + NOTICE_CODES)
    for code in ROW_CODES:
        assert "{line}" in texts[f"trace.{code}"]
    for template in texts.values():
        assert set(re.findall(r"\{(.*?)\}", template)) <= {"line", "column", "value", "expected"}
