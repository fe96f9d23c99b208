"""`kvscope sizing` says how many users fit, with a sum that adds up, or in one sentence why none do."""

import pytest


def test_the_answer_comes_first_and_the_sum_after_it(kvscope):
    shown = kvscope("sizing", "--model", "llama3-8b", "--gpu", "h100", "--context", 8192).out
    assert shown.startswith("Llama-3-8B on 1 GPU: H100-SXM\n54 users of 8,192 tokens fit at the same time.\n")
    for part in (
        "KV of a token: 2 · 32 layers · 8 KV heads · 128 numbers · 16 / 8 bytes = 131,072 bytes",
        "Users: 8,192 tokens in whole blocks take 1,073,741,824 bytes, so 54 users fit.",
        "KV cache",
    ):
        assert part in shown


def test_the_document_has_every_term(kvscope):
    answer = kvscope("sizing", "--model", "Qwen3-32B", "--gpu", "h100", "--tp", 2, "--json").document
    assert sum(answer["terms"].values()) == answer["memory"]
    assert answer["num_tokens"] == answer["num_blocks"] * answer["settings"]["bs"]
    assert answer["users"] == answer["num_tokens"] // 4096
    assert answer["settings"]["model"] == "Qwen3-32B"


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("deepseek-v3", "61 layers · 576 numbers of the latent vector · 8 / 8 bytes = 35,136 bytes"),
        (
            "gemma-3-27b",
            "Layers with a sliding window: 52 of 62; they keep 1,024 tokens of a sequence and no more.",
        ),
    ],
)
def test_other_attention_has_its_own_sum(kvscope, monkeypatch, model, line):
    monkeypatch.setenv("COLUMNS", "120")
    shown = kvscope("sizing", "--model", model, "--gpu", "b300", "--tp", 8, "--kv-bits", 8).out
    assert line in shown


def test_fewer_bits_and_more_memory_fit_more(kvscope):
    def users(*options: object) -> int:
        return kvscope("sizing", "--gpu", "L40S", *options, "--json").document["users"]

    assert users() < users("--utilisation", 95) < users("--weights-bits", 8) < users("--kv-bits", 4)


def test_a_context_beyond_the_models_is_remarked_on(kvscope):
    outcome = kvscope("sizing", "--context", 20_000)
    assert outcome.code == 0
    assert "Llama-3-8B was made for up to 8,192 tokens" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            "--model llama3-8",
            "No model is called “llama3-8”; did you mean Llama-3-8B, Llama-3.1-8B, LLaMA-13B?",
        ),
        ("--gpu H1000", "No GPU is called “H1000”; did you mean "),
        (
            "--tp 3",
            "Llama-3-8B cannot be dealt out to 3 GPUs by whole heads; expected one of 1, 2, 4, 8, 16, 32.",
        ),
        ("--tp 0", "--tp is “0”; expected 1 … 128."),
        ("--weights-bits 5", "--weights-bits is “5”; expected 16, 8, 4."),
        ("--context 0", "--context is “0”; expected 1 … 10,000,000."),
        ("--utilisation 101", "--utilisation is “101”; expected 1 … 100."),
        (
            "--model Llama-3-70B --gpu H100",
            "each GPU would need 142.6 GB and may use 76.5 GB; expected 2 GPUs, fewer bits",
        ),
        ("--model OPT-175B --gpu L4 --utilisation 1", "and more GPUs do not help"),
    ],
)
def test_what_will_not_do_is_said_in_one_sentence(refused, arguments, sentence):
    assert sentence in refused("sizing", *arguments.split())


def test_the_whole_answer_is_there_in_chinese(kvscope):
    shown = kvscope("sizing", "--lang", "zh").out
    assert shown.startswith(
        "1 个 A100-80GB-SXM 上的 Llama-3-8B\n能同时容纳 109 个用户，每个 4,096 个 token。\n"
    )
