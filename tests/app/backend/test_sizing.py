"""The page's question of how many users fit: every number of the sum, and errors that say what would do."""

import pytest

from app.backend.handle import Handler


def ask(**settings) -> dict:
    return Handler().handle({"kind": "sizing", "settings": settings})


def sizing(**settings) -> dict:
    return ask(**settings)["sources"]["sizing"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"model": "Llama-3-70B", "tp": 4, "wbits": "8"},
        {"model": "gemma-3-27b", "gpu": "h100", "kvbits": "8"},
        {"model": "DeepSeek-V3", "gpu": "b300", "tp": 8, "wbits": "8"},
        {"model": "Qwen3-32B", "gpu": "h100", "tp": 2, "wbits": "4", "seqs": 64, "budget": 8192, "util": 85},
    ],
)
def test_every_term_is_made_of_the_numbers_that_are_shown(settings):
    answer = sizing(**settings)
    used, parts, terms, kv = (answer[key] for key in ("settings", "made_of", "terms", "kv"))
    assert sum(terms.values()) == answer["memory"]
    assert terms["kept"] == answer["memory"] * parts["kept"] // 1000
    left = answer["memory"] - terms["kept"]
    assert terms["reserve"] == pytest.approx(left * (100 - used["util"]) / 100, abs=1)
    bits = int(used["wbits"])
    weights = parts["layer_weights"] * bits / 8 + parts["embedding_weights"] * 2
    assert terms["weights"] == pytest.approx(weights, abs=2)
    assert terms["hidden"] == used["budget"] * parts["hidden_size"] * 2 + parts["buffers"]
    assert terms["sampler"] == used["seqs"] * parts["vocabulary"] * parts["logit"]
    assert terms["context"] == parts["libraries"] + parts["communication"]
    numbers = kv["numbers"] if not kv["heads"] else 2 * kv["heads"] * kv["head_dim"]
    assert kv["bytes_per_token"] == kv["layers"] * numbers * kv["bits"] // 8
    assert answer["num_blocks"] == terms["kv_space"] // (used["bs"] * kv["bytes_per_token"])


def test_the_curve_goes_through_the_answer_and_falls():
    response = ask(ctx=3000)
    curve, answer = response["sources"]["curve"], response["sources"]["sizing"]
    at = curve["context"].index(3000)
    assert (curve["users"][at], curve["bytes"][at]) == (answer["users"], answer["bytes_per_user"])
    assert curve["context"] == [512, 1024, 2048, 3000, 4096, 8192]
    assert curve["users"] == sorted(curve["users"], reverse=True)


@pytest.mark.parametrize(("context", "last"), [(1, 8192), (100_000, 100_000)])
def test_the_curve_reaches_the_model_s_longest_and_the_one_that_is_set(context, last):
    contexts = ask(ctx=context)["sources"]["curve"]["context"]
    assert context in contexts
    assert 8192 in contexts
    assert contexts[-1] == last


def test_names_need_not_be_exact_and_the_settings_say_what_was_taken():
    response = ask(model="meta-llama/llama_3_8b", gpu="h100")
    assert response["error"] is None
    assert (response["settings"]["model"], response["settings"]["gpu"]) == ("Llama-3-8B", "H100-SXM")


def test_numbers_out_of_bounds_are_clamped_and_told():
    response = ask(tp="0", ctx="9" * 30)
    assert (response["settings"]["tp"], response["settings"]["ctx"]) == (1, 10_000_000)
    assert [notice["key"] for notice in response["notices"]].count("notice.corrected") == 2


def test_a_context_beyond_the_model_s_is_remarked_on_in_both_languages():
    (notice,) = ask(ctx=20_000)["notices"]
    assert "8,192" in notice["en"]
    assert "8,192" in notice["zh"]


@pytest.mark.parametrize(
    ("settings", "offers"),
    [
        ({"model": "llama3-8"}, [{"model": "Llama-3-8B"}, {"model": "Llama-3.1-8B"}, {"model": "LLaMA-13B"}]),
        ({"tp": 3}, [{"tp": tp} for tp in (1, 2, 4, 8, 16, 32)]),
        ({"model": "Llama-3-70B"}, [{"tp": 2}, {"wbits": "8"}, {"wbits": "4"}]),
        ({"model": "OPT-175B", "gpu": "L4", "util": 1}, []),
    ],
)
def test_an_error_offers_what_would_do_and_each_offer_does(settings, offers):
    error = ask(**settings)["error"]
    assert error["en"]
    assert error["zh"]
    assert error["offers"] == offers
    for offer in offers:
        assert ask(**{**settings, **offer})["error"] is None, offer


@pytest.mark.parametrize("settings", [None, [], "x", {"model": 7}, {"gpu": ["h100"]}, {"tp": None}])
def test_what_is_no_settings_at_all_does_not_raise(settings):
    response = Handler().handle({"kind": "sizing", "settings": settings})
    assert response["error"] is None or response["error"]["en"]
