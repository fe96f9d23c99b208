"""`--html FILE` writes one file with charts and tables that asks nobody for anything."""

import re
from html.parser import HTMLParser

import pytest

TRACE = "arrival_s,prompt,output\n" + "".join(
    f"{i / 10},{20 + 7 * i % 50},{5 + 3 * i % 40}\n" for i in range(40)
)
SETTINGS = ("--blocks", 16, "--max-len", 200)


class Page(HTMLParser):
    """What a browser would load from elsewhere, its elements, and the words of table cells."""

    def __init__(self, content):
        super().__init__()
        self.loaded, self.cells, self.tags, self._in_cell = [], [], set(), False
        self.feed(content)

    def handle_starttag(self, tag, attrs):
        self.loaded += [value for name, value in attrs if name in ("src", "href")]
        self.tags.add(tag)
        self._in_cell = tag in ("td", "th")

    def handle_data(self, data):
        if self._in_cell:
            self.cells.append(data)

    def handle_endtag(self, tag):
        self._in_cell = False


@pytest.fixture
def trace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    path.write_text(TRACE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("command", "options", "headings"),
    [
        ("replay", ("--compare",), ["Paged", "Max", "Pow2", "Oracle"]),
        ("sweep", ("--block-size", "4,8"), ["block-size 4", "block-size 8"]),
    ],
)
def test_a_report_is_one_file_with_its_figures(kvscope, trace, tmp_path, command, options, headings):
    target = tmp_path / "report.html"
    outcome = kvscope(command, trace, *SETTINGS, *options, "--html", target)
    assert outcome.code == 0
    assert "The report is in" in outcome.err
    content = target.read_text(encoding="utf-8")
    page = Page(content)
    assert page.loaded == []
    assert "img" not in page.tags
    assert set(headings) <= set(page.cells)
    assert len(re.findall(r"data-root-id", content)) >= 3


def test_a_report_speaks_the_language_asked_for(kvscope, trace, tmp_path):
    target = tmp_path / "report.html"
    kvscope("replay", trace, *SETTINGS, "--html", target, "--lang", "zh")
    content = target.read_text(encoding="utf-8")
    assert '<html lang="zh">' in content
    assert "抢占" in content


@pytest.mark.parametrize("command", ["replay", "sweep"])
def test_a_report_that_cannot_be_written_is_refused_before_the_work(refused, trace, monkeypatch, command):
    monkeypatch.chdir(trace.parent)
    told = refused(command, trace, *SETTINGS, "--html", "/nowhere/report.html")
    assert "/nowhere/report.html cannot be written: No such file or directory" in told
    assert sorted(each.name for each in trace.parent.iterdir()) == [trace.name]


def test_a_report_that_is_there_stays_until_the_new_one_is_written(refused, trace):
    target = trace.with_name("report.html")
    target.write_text("before", encoding="utf-8")
    refused("replay", trace.with_name("missing.csv"), "--html", target)
    assert target.read_text(encoding="utf-8") == "before"
    refused("replay", trace.with_name("missing.csv"), "--html", trace.with_name("other.html"))
    assert not trace.with_name("other.html").exists()
