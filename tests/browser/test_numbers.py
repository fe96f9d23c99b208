"""The page's numbers are the core's: the same as the command line prints, and the same digests in Pyodide."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.simulator import kvscope
from tests.golden.test_golden import KEPT

SETTINGS = {
    "paged, single-slot blocks": {"mode": "paged", "bs": 1, "seed": 11},
    "paged, large shuffled blocks in held memory": {
        "mode": "paged",
        "bs": 16,
        "hold": 1,
        "order": "shuffled",
        "seed": 3,
    },
    "paged, a small pool that preempts": {"mode": "paged", "blocks": 24, "wm": 0, "seed": 7},
    "contiguous, max, first fit": {"mode": "contiguous", "res": "max", "sc": "uniform", "seed": 2},
    "contiguous, pow2, buddy, an odd pool": {
        "mode": "contiguous",
        "res": "pow2",
        "place": "buddy",
        "blocks": 63,
    },
    "contiguous, oracle, first fit, long tail": {
        "mode": "contiguous",
        "res": "oracle",
        "sc": "long_tail",
        "bs": 8,
    },
    "a hash chain under vLLM's rules, in chunks": {
        "mode": "paged",
        "sc": "shared_prompts",
        "cache": "hash_chain",
        "rules": "vllm-v1",
        "uncached": "tail",
        "budget": 24,
    },
    "a radix tree under SGLang's rules, longest prefix first": {
        "mode": "paged",
        "sc": "shared_prompts",
        "cache": "radix",
        "rules": "sglang",
        "queue": "lpm",
        "evict": "lfu",
    },
    "chats in a small pool": {"mode": "paged", "sc": "chats", "cache": "radix", "blocks": 40, "seed": 3},
    "requests that can never fit": {"mode": "paged", "sc": "long_tail", "blocks": 8},
}
STEPS = (0, 1, 17, 38, 61, 90)


@pytest.fixture(scope="module")
def ready(browser, address):
    """One page with Python, whose settings the tests change in the form."""
    from tests.browser.simulator import Simulator

    with browser.new_context(viewport={"width": 1440, "height": 900}, service_workers="block") as context:
        yield Simulator(context, address).open("?lang=en")


@pytest.mark.parametrize("name", SETTINGS)
def test_the_counters_are_those_of_the_command_line(ready, name):
    settings = SETTINGS[name]
    told = kvscope("run", **settings)
    recording = told["recording"]
    ready.locator("#advanced").evaluate("fold => { fold.open = true; }")
    ready.locator("#reset-settings").click()
    ready.set(**settings)
    for key, value in settings.items():  # in this order: the address is written once a run is shown
        ready.wait_for_address(key, str(value))
    for step in STEPS:
        ready.seek(step)
        ready.expect_numbers(recording, step)
        if "cached" in recording["frames"]:
            cached, found = (recording["frames"][name][step] for name in ("cached", "found"))
            blocks = cached // recording["block_size"]
            expect(ready.locator("[data-cached-blocks]")).to_have_text(str(blocks))
            expect(ready.locator("[data-found]")).to_have_text(str(found))
            expect(ready.locator("[data-waste=cached]")).to_contain_text(re.compile(rf"^{cached} ·"))
    assert ready.complaints == []


def test_settings_of_an_address_are_run_as_they_stand(simulator):
    settings = {
        "mode": "contiguous",
        "res": "oracle",
        "place": "buddy",
        "bs": 32,
        "blocks": 40,
        "seed": 123,
        "steps": 200,
    }
    recording = kvscope("run", **settings)["recording"]
    query = "&".join(f"{key}={value}" for key, value in settings.items())
    page = simulator().open(f"?v=1&{query}&t=150")
    page.wait_for_steps(200)
    page.expect_frame(150)
    for step in (150, 200, 3):
        page.seek(step)
        page.expect_numbers(recording, step)


# Runs in the page's worker: asks as the page does, and catches the answers to these questions alone.
ASK_THE_WORKER = """async (runs) => {
    const post = self.postMessage.bind(self);
    const waiting = new Map();
    self.postMessage = (message, ...rest) =>
        waiting.has(message.id) ? waiting.get(message.id)(message) : post(message, ...rest);
    const found = {};
    for (const [name, { settings }] of Object.entries(runs)) {
        const request = { kind: "simulate", settings };
        const { response, failed } = await new Promise((resolve) => {
            waiting.set(name, resolve);
            self.dispatchEvent(new MessageEvent("message", { data: { id: name, request } }));
        });
        found[name] = failed ?? response.error ?? response.sources.recording.digest;
    }
    self.postMessage = post;
    return found;
}"""


def test_every_golden_run_has_the_same_digest_in_pyodide(ready):
    digests = ready.worker.evaluate(ASK_THE_WORKER, KEPT)
    assert digests == {name: kept["digest"] for name, kept in KEPT.items()}
