"""`kvscope capacity` finds the rate at which a load leaves its SLO."""

import pytest

SMALL = ("--limit", 60, "--blocks", 200, "--model", "Llama-3-8B")


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.csv"
    rows = "".join(f"{i * 2},{200 + 37 * i % 300},{30 + 11 * i % 60}\n" for i in range(60))
    path.write_text("arrival_s,prompt,output\n" + rows, encoding="utf-8")
    return path


def test_the_rate_that_is_found_is_sustained_and_the_next_one_is_not(kvscope, trace):
    outcome = kvscope("capacity", trace, *SMALL, "--tolerance", 10, "--json")
    assert outcome.code == 0
    found = outcome.document
    assert found["load_rate"] == 0.5
    verdicts = {probe["rate"]: probe["sustained"] for probe in found["probes"]}
    assert verdicts[found["rate"]]
    assert not verdicts[found["not_sustained"]]
    assert found["rate"] < found["not_sustained"] <= 1.1 * found["rate"]
    for rate, sustained in verdicts.items():
        speed = rate / found["load_rate"]
        alone = kvscope("replay", trace, *SMALL, "--speed-up", speed, "--json").document["runs"][0]["result"]
        assert (alone["attainment"] >= 0.9) == sustained


def test_less_memory_sustains_less(kvscope, trace):
    rates = [
        kvscope("capacity", trace, *SMALL[:2], "--blocks", blocks, "--json").document["rate"]
        for blocks in (80, 400)
    ]
    assert rates[0] < rates[1]


def test_without_a_file_a_built_in_load_is_tried(kvscope):
    outcome = kvscope("capacity", "--limit", 50, "--tolerance", 50, "--json")
    assert outcome.code == 0
    assert (outcome.document["load"], outcome.document["requests"]) == ("sharegpt", 50)
    assert outcome.document["rate"] > 1


def test_an_slo_that_nothing_meets_is_said_and_fails(kvscope, trace):
    outcome = kvscope("capacity", trace, *SMALL, "--slo-ttft-ms", 0.5)
    assert outcome.code == 1
    assert "No rate meets the SLO of 0.5 ms" in " ".join(outcome.out.split())


def test_requests_that_arrive_at_once_have_no_rate(refused, tmp_path):
    path = tmp_path / "burst.csv"
    path.write_text("arrival_s,prompt,output\n3,10,5\n3,10,5\n", encoding="utf-8")
    assert "arrive at the same time" in refused("capacity", path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--share", 0), "--share is “0”"),
        (("--tolerance", "x"), "--tolerance is “x”"),
        (("--model", "llama3-8"), "Llama-3-8B"),
        (("--gpu", "H10"), "H100"),
        (("--model", "Llama-3-70B"), "does not fit on 1"),
        (("--mode", "x"), "--mode is “x”"),
    ],
)
def test_refusals_are_one_sentence(refused, trace, options, sentence):
    assert sentence in refused("capacity", trace, *options)
