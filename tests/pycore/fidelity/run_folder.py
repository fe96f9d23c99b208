"""Files of a small measured run."""

import json
from pathlib import Path

from pycore.fidelity.run_files import FILES

META = {"model": "Llama-3.1-8B", "engine_kwargs": {"max_num_seqs": 4, "max_num_batched_tokens": 512}}
HARDWARE = {"model_name": "Llama-3.1-8B", "hardware": "H100", "npu_mem": {"mem_bw": 3000}, "tp_size": 1}
CONFIG = {"link_bw": 50, "nodes": [{"instances": [HARDWARE]}]}
REQUEST = {
    "request_id": "a",
    "input_toks": 700,
    "output_toks": 3,
    "arrival_time": 1_700_000_000.5,
    "queued_ts": 10.0,
    "scheduled_ts": 10.0,
    "first_token_ts": 10.25,
    "last_token_ts": 10.375,
}
LATER = {**REQUEST, "arrival_time": 1_700_000_000.75, "queued_ts": 10.25, "first_token_ts": 10.5}
LATER["last_token_ts"] = 10.5
LATER["output_toks"] = 1


def run_files(**changes: object) -> dict[str, str]:
    """The files by name: `config`, `meta` and `requests` may be given as objects, `timeseries` as text."""
    requests = changes.get("requests", [REQUEST, LATER])
    return {
        "config.json": json.dumps(changes.get("config", CONFIG)),
        "meta.json": json.dumps(changes.get("meta", META)),
        "requests.jsonl": "".join(json.dumps(each) + "\n" for each in requests),
        "timeseries.csv": changes.get("timeseries", "t,prompt_throughput,running,waiting\n1.0,0,2,0\n"),
    }


def folder_files(folder: Path) -> dict[str, str]:
    """What lies in a folder."""
    return {name: (folder / name).read_text() for name in FILES if (folder / name).exists()}
