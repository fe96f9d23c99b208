"""A dropped trace with hash ids: the Replay tab shows what a prefix cache could reuse."""

import json

from playwright.sync_api import expect

from tests.browser.simulator import BOOT_MS, kvscope

ROWS = [
    {"timestamp": i * 10, "input_length": 1124, "output_length": 2, "hash_ids": [first, first + 1, first + 2]}
    for i, first in enumerate((0, 3, 0, 6) * 10)
]


def test_hit_rates_of_a_dropped_trace_are_those_of_the_command_line(simulator, tmp_path):
    page = simulator().open("?tab=replay&lang=en")
    data = "\n".join(map(json.dumps, ROWS)).encode()
    page.drop("shared.jsonl", data)
    hits = page.locator("#replay-hits")
    expect(hits).to_be_visible(timeout=BOOT_MS)
    expect(hits.locator("canvas").first).to_be_attached(timeout=BOOT_MS)
    trace = tmp_path / "shared.jsonl"
    trace.write_bytes(data)
    found = kvscope("replay", str(trace), "--cache", "lru,optimal")["hit_rates"]
    shown = hits.locator("tbody tr").all()
    assert len(shown) >= 1
    expected = {
        (point["capacity"], point["policy"]): f"{100 * point['hit_rate']:.1f}" for point in found["points"]
    }
    for row in shown:
        cells = row.locator("th, td").all_text_contents()
        assert float(cells[2]) == float(expected[int(cells[0]), "lru"])
        assert float(cells[3]) == float(expected[int(cells[0]), "optimal"])
    page.drop("lengths.csv", b"prompt,output\n9,2\n")
    expect(hits).to_be_hidden(timeout=BOOT_MS)
