"""`kvscope replay` gives the page's numbers, and one sentence for whatever is wrong with a file."""

import csv
import io
from pathlib import Path

import pytest

from app.backend.handle import Handler
from app.cli import trace_source
from tests.shared import shared

TRACE = "arrival_s,prompt,output\n" + "".join(
    f"{i / 10},{20 + 7 * i % 50},{5 + 3 * i % 40}\n" for i in range(80)
)
BAD_CELLS = "abc,3 -4,2 0,1 nan,1 inf,1 2.5,1 99999999999,1 ,1 5 5,5,5 <script>,2"
BAD_ROWS = "\n".join(["prompt,output", "10,5", *BAD_CELLS.split(), "4,4", ""])
OF_THE_PAGE = ("name", "format", "partial", "percentiles")  # beside the figures
SMALL_POOL = ("--blocks", 16, "--max-len", 200)


@pytest.fixture
def trace(tmp_path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(TRACE, encoding="utf-8")
    return path


@pytest.fixture
def written(tmp_path):
    def write(content: bytes | str, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def from_the_page(path: Path, settings: dict) -> dict:
    """What the page shows for the same file."""
    handler = Handler()
    request = {"kind": "replay", "name": path.name, "data": path.read_bytes(), "settings": settings}
    response = handler.handle(request)
    while response.get("more"):
        response = handler.handle({"kind": "continue", "job": response["more"]})
    assert response["error"] is None
    return response


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"limit": 80}, ()),
        ({"limit": 30, "blocks": 16, "maxlen": 200}, ("--limit", 30, *SMALL_POOL)),
        (
            {"limit": 80, "mode": "contiguous", "res": "oracle", "place": "buddy", "stepms": 20, "bs": 8},
            [
                *("--mode", "contiguous", "--reservation", "oracle", "--placement", "buddy"),
                *("--step-ms", 20, "--block-size", 8),
            ],
        ),
    ],
)
def test_the_figures_are_those_of_the_page(kvscope, trace, settings, options):
    document = kvscope("replay", trace, *options, "--json").document
    source = from_the_page(trace, settings)["sources"]["replay"]
    assert document["trace"]["format"] == source["format"]
    assert document["partial"] is False
    (run,) = document["runs"]
    assert run["result"] == {key: value for key, value in source.items() if key not in OF_THE_PAGE}


def test_a_whole_trace_gives_the_same_document_each_time(kvscope):
    code = shared("traces/azure2023_code.csv")
    first = kvscope("replay", code, "--json")
    assert first.code == 0
    assert first.err == ""
    result = first.document["runs"][0]["result"]
    assert result["num_requests"] == result["num_finished"] == 8819
    assert kvscope("replay", code, "--json").out == first.out


def test_a_real_trace_gives_the_figures_of_the_page(kvscope):
    conversation = shared("traces/azure2023_conv.csv")
    document = kvscope("replay", conversation, "--limit", 2000, "--json").document
    source = from_the_page(conversation, {"limit": 2000})["sources"]["replay"]
    assert document["trace"]["requests"] == 2000
    assert document["trace"]["truncated"] is True
    result = document["runs"][0]["result"]
    assert result == {key: value for key, value in source.items() if key not in OF_THE_PAGE}


def test_all_ways_are_compared_on_the_same_requests(kvscope, trace):
    document = kvscope("replay", trace, *SMALL_POOL, "--compare", "--json").document
    setups = [(run["settings"]["mode"], run["settings"]["res"]) for run in document["runs"]]
    assert setups == [("paged", "max"), *(("contiguous", each) for each in ("max", "pow2", "oracle"))]
    for run in document["runs"]:
        options = ("--mode", run["settings"]["mode"], "--reservation", run["settings"]["res"])
        assert kvscope("replay", trace, *SMALL_POOL, *options, "--json").document["runs"] == [run]


def test_the_comparison_is_one_table(kvscope, trace):
    out = kvscope("replay", trace, *SMALL_POOL, "--compare").out
    heading = next(line for line in out.splitlines() if line.startswith("Figure"))
    assert heading.split() == ["Figure", "Paged", "Max", "Pow2", "Oracle"]
    document = kvscope("replay", trace, *SMALL_POOL, "--compare", "--json").document
    row = next(line for line in out.splitlines() if line.startswith("Real tokens, share of pool"))
    shown = [f"{100 * run['result']['utilisation']:.1f}" for run in document["runs"]]
    assert row.removeprefix("Real tokens, share of pool").replace("%", "").split() == shown


def test_csv_has_a_row_for_each_replay(kvscope, trace):
    rows = list(csv.DictReader(io.StringIO(kvscope("replay", trace, *SMALL_POOL, "--compare", "--csv").out)))
    document = kvscope("replay", trace, *SMALL_POOL, "--compare", "--json").document
    for row, run in zip(rows, document["runs"], strict=True):
        assert row["mode"] == run["settings"]["mode"]
        assert float(row["utilisation"]) == run["result"]["utilisation"]
        assert int(row["ttft.p99"]) == run["result"]["ttft"]["p99"]
        assert int(row["rejected.context"]) == run["result"]["rejected"].get("context", 0)


def test_the_origin_of_the_default_pool_is_told(kvscope, trace):
    told = " ".join(kvscope("replay", trace).out.split())
    assert "The pool: 8,638 blocks of 16 tokens, what Llama-3-8B leaves free on 1 GPU: A100-40GB." in told
    assert "A step takes as long as Llama-3-8B needs on 1 GPU (A100-40GB)" in told
    other = " ".join(kvscope("replay", trace, "--blocks", 100, "--step-ms", 2.5).out.split())
    assert "The pool: 100 blocks of 16 tokens." in other
    assert "One step stands for 2.5 ms here" in other


def test_requests_that_never_fit_are_counted_by_reason(kvscope, written):
    path = written("prompt,output\n500,10\n150,20\n10,10\n")
    outcome = kvscope("replay", path, "--blocks", 10, "--max-len", 400)
    rows = [line.split() for line in outcome.out.splitlines()]
    assert outcome.code == 0
    assert ["Rejected", "2"] in rows
    assert ["of", "these", "too", "long", "1"] in rows
    assert "of these larger than the pool 1" in [" ".join(row) for row in rows]


def test_times_of_which_there_are_none_are_no_zeros(kvscope, written, tmp_path):
    path = written("prompt,output\n500,10\n")
    page = tmp_path / "report.html"
    outcome = kvscope("replay", path, "--blocks", 10, "--max-len", 400, "--html", page)
    rows = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert "Time to first token – – – – –" in rows
    assert page.read_text(encoding="utf-8").count("<td>–</td>") >= 5


def test_bad_rows_are_named_and_the_good_ones_kept(kvscope, written):
    outcome = kvscope("replay", written(BAD_ROWS), "--json")
    remarks = outcome.err.splitlines()
    assert outcome.code == 0
    assert outcome.document["trace"]["requests"] == 2
    assert outcome.document["trace"]["bad_rows"] == 11
    assert remarks[0] == "11 of 13 rows are bad and were left out; 2 are replayed."
    expected = "Expected a whole number of tokens, 1 … 10,000,000."
    assert f"Line 3, prompt: “abc” is not a number. {expected}" in remarks
    assert any(line.startswith("Line 13, prompt: “<script>”") for line in remarks)
    assert [problem["line"] for problem in outcome.document["trace"]["problems"]][:11] == list(range(3, 14))


def test_the_first_twenty_bad_rows_are_listed_and_the_others_counted(kvscope, written):
    outcome = kvscope("replay", written("prompt,output\n" + "x,1\n" * 50 + "1,1\n"))
    remarks = outcome.err.splitlines()
    assert sum(line.startswith("Line ") for line in remarks) == 20
    assert "30 more bad rows not listed." in remarks


def test_strict_stops_at_the_first_bad_row(refused, written):
    assert refused("replay", written(BAD_ROWS), "--strict") == (
        "t.csv cannot be replayed. Line 3, prompt: “abc” is not a number. "
        "Expected a whole number of tokens, 1 … 10,000,000."
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The file is empty."),
        (
            b"\x7fELF\x00\x01\x02" * 100,
            "The file is not text in UTF-8 or UTF-16. Expected: a CSV or JSONL file.",
        ),
        ("prompt,output\n", "The file has a header but no rows below it."),
        (
            "prompt,output\nx,1\n",
            "None of the file’s rows can be read (1 looked at). Line 2, prompt: “x” is not a number.",
        ),
        ("words,output\n1,2\n", "Line 1 names no column with prompt lengths"),
        ("prompt,words\n1,2\n", "Line 1 names no column with output lengths"),
    ],
)
def test_a_file_without_a_trace_is_refused_in_one_sentence(refused, written, content, reason):
    assert refused("replay", written(content)).startswith(f"t.csv cannot be replayed. {reason}")


def test_a_file_that_cannot_be_opened_is_refused_in_one_sentence(refused, tmp_path):
    missing, folder = tmp_path / "none.csv", tmp_path
    assert refused("replay", missing).endswith("expected a CSV or JSONL trace.")
    assert refused("replay", missing).startswith("There is no file")
    assert refused("replay", folder).endswith("is a folder; expected a CSV or JSONL file.")
    assert "cannot be read" in refused("replay", tmp_path / ("x" * 300))


def test_a_file_without_permission_is_refused(refused, monkeypatch, trace):
    def open_nothing(*_: object) -> None:  # root, as whom tests may run, may read every file
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(trace_source, "open", open_nothing, raising=False)
    assert "may not be read by you; expected" in refused("replay", trace)


def test_markup_in_a_file_name_is_shown_as_text(kvscope, refused, written):
    name = "[bold]<script>x:smile:.csv"
    assert kvscope("replay", written(TRACE, name)).out.startswith(f"{name}: 80 requests\n")
    assert refused("replay", written("", name)).startswith(f"{name} cannot be replayed.")


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffprompt,output\r\n10,5\r\n20,6",
        "prompt,output\r\n10,5\n20,6\r\n",
        '{"prompt": 10, "output": 5}\n{"prompt": 20, "output": 6}\n',
    ],
)
def test_every_kind_of_file_gives_its_requests(kvscope, written, content):
    document = kvscope("replay", written(content), "--json").document
    assert document["trace"]["requests"] == 2
    assert document["runs"][0]["result"]["tokens_in"] == 30


def test_rows_out_of_order_are_sorted_and_it_is_said(kvscope, written):
    outcome = kvscope("replay", written("arrival_s,prompt,output\n5,1,1\n1,1,1\n"))
    assert outcome.code == 0
    assert "The requests were sorted by arrival." in outcome.err


def test_the_time_line_is_drawn_in_both_languages(kvscope, trace):
    assert "█" in kvscope("replay", trace, *SMALL_POOL).out
    chinese = kvscope("replay", trace, *SMALL_POOL, "--lang", "zh").out
    assert "随时间的变化" in chinese
    assert "Real tokens" not in chinese
