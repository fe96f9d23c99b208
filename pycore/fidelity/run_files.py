"""Reads the folder of a measured run: config.json, meta.json, requests.jsonl, timeseries.csv.

The files are LLMServingSim's (bench/examples): meta.json says how vLLM was started, config.json what hardware
there was, requests.jsonl what became of each request, timeseries.csv who ran and waited each second. Only
requests.jsonl and the names of model and GPU have to be there; what is not said is as vLLM has it by default.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pycore.fidelity.measured_run import Load, MeasuredRun, Outcome, RequestTimes, RunSettings
from pycore.specs import Deployment, ModelSpec, find_gpu, find_model
from pycore.specs.catalogue import UnknownNameError

CONFIG, META, REQUESTS, TIME_LINE = FILES = ("config.json", "meta.json", "requests.jsonl", "timeseries.csv")
REQUIRED = (REQUESTS,)
_GIGA = 10**9
_MAX_SEQS, _BUDGET = 256, 2048  # vLLM's defaults on such GPUs
_BITS = {"auto": 16, "bfloat16": 16, "float16": 16, "half": 16}
_EIGHT_BITS = ("fp8", "int8")
# What may follow a model's name without changing its shape.
_VARIANTS = ("instruct", "chat", "it", "hf", "base", "fp8", "2507")


class RunFileError(ValueError):
    """A file of a run says something that cannot be used.

    Attributes:
        file: its name.
        where: line or setting.
        value: what stands there, "" if nothing does.
        expected: what would do, in no language.
    """

    def __init__(self, file: str, where: str, value: object, expected: str) -> None:
        super().__init__(f"{file}, {where}: {value!r}, expected {expected}")
        self.file = file
        self.where = where
        self.value = value
        self.expected = expected


def read_run(name: str, files: Mapping[str, str]) -> MeasuredRun:
    """A run.

    Args:
        name: of its folder.
        files: text by name of the file, of those in FILES that there are.

    Raises:
        RunFileError: a file that is missing or cannot be used.
        UnknownNameError: a model or a GPU of which no figures are known.
        DeploymentError: heads that cannot be dealt out to so many GPUs.
    """
    for required in REQUIRED:
        if required not in files:
            raise RunFileError(required, "-", "", "a file")
    config, meta = (_object(each, files.get(each, "{}")) for each in (CONFIG, META))
    requests = _requests(files[REQUESTS])
    longest = max(each.prompt_len + each.output_len for each in requests)
    settings = run_settings(name, config, meta, longest)
    return MeasuredRun(name, settings, Outcome(requests, _time_line(files.get(TIME_LINE, ""))))


def run_settings(name: str, config: Mapping, meta: Mapping, longest: int) -> RunSettings:
    """The settings of a run; see read_run.

    Args:
        name: of its folder, `<GPU>_<model>`, for what the files do not say.
        config, meta: the decoded files.
        longest: tokens of its longest request.
    """
    kwargs, cache = _part(meta, "engine_kwargs"), _part(meta, "kv_cache")
    resolved = _part(meta, "resolved_config")
    scheduler, stored = _part(resolved, "scheduler_config"), _part(resolved, "cache_config")
    instance = _instance(config)
    card = _part(instance, "npu_mem")
    gpu_name, _, model_name = name.partition("_")
    model = _said(str, (META, "model", meta.get("model")), (CONFIG, "model_name", instance.get("model_name")))
    hardware = _said(str, (CONFIG, "hardware", instance.get("hardware")))
    hardware = hardware or _said(str, (META, "device_name", _part(meta, "hardware").get("device_name")))
    gpu = find_gpu(hardware or gpu_name)
    bandwidth = _number((CONFIG, "mem_bw", card.get("mem_bw")))
    link = _number((CONFIG, "link_bw", config.get("link_bw")))
    gpu = replace(
        gpu,
        bandwidth=round(bandwidth * _GIGA) if bandwidth else gpu.bandwidth,
        link_bandwidth=round(link * _GIGA) if link else gpu.link_bandwidth,
    )
    tp = _whole(
        (META, "tensor_parallel_size", kwargs.get("tensor_parallel_size")),
        (CONFIG, "tp_size", instance.get("tp_size")),
    )
    copies = _whole((META, "data_parallel_size", kwargs.get("data_parallel_size")))
    if copies is not None and copies > 1:
        raise RunFileError(META, "data_parallel_size", copies, "1")
    kv_dtype = kwargs.get("kv_cache_dtype", "auto")
    weights_dtype = kwargs.get("quantization") or kwargs.get("dtype", "auto")
    bits, kv_bits = _bits("dtype", weights_dtype), _bits("kv_cache_dtype", kv_dtype)
    found = _model(model or model_name)
    hop_ns = _number((CONFIG, "link_latency", config.get("link_latency")), least=0)
    share = _number((META, "gpu_memory_utilization", cache.get("gpu_memory_utilization")))
    caching = cache.get("enable_prefix_caching", kwargs.get("enable_prefix_caching", True))
    max_len = _whole((META, "max_model_len", kwargs.get("max_model_len"))) or found.max_context
    return RunSettings(
        deployment=Deployment(found, gpu, tp or 1, bits, kv_bits),
        max_num_seqs=_whole(
            (META, "max_num_seqs", kwargs.get("max_num_seqs")),
            (META, "max_num_seqs", scheduler.get("max_num_seqs")),
        )
        or _MAX_SEQS,
        token_budget=_whole(
            (META, "max_num_batched_tokens", kwargs.get("max_num_batched_tokens")),
            (META, "max_num_batched_tokens", scheduler.get("max_num_batched_tokens")),
        )
        or _BUDGET,
        max_len=max(max_len, longest),
        num_blocks=_whole(
            (META, "num_gpu_blocks", cache.get("num_gpu_blocks")),
            (META, "num_gpu_blocks", stored.get("num_gpu_blocks")),
        ),
        block_size=_whole((META, "block_size", cache.get("block_size"))) or 16,
        utilisation=max(1, min(1000, round(share * 1000))) if share else 900,
        prefix_caching=caching is not False,
        scheduled_ahead=scheduler.get("async_scheduling", True) is not False,
        hop_ns=None if hop_ns is None else round(hop_ns),
        states_link=link is not None,
    )


def _object(file: str, text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise RunFileError(file, f"line {getattr(error, 'lineno', 1)}", "", "JSON") from None
    if not isinstance(found, dict):
        raise RunFileError(file, "line 1", type(found).__name__, "{…}")
    return found


def _part(of: Mapping, name: str) -> Mapping[str, Any]:
    """The object under this name, empty if there is none."""
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def _instance(config: Mapping) -> Mapping[str, Any]:
    """The first instance of the first node."""
    for level in ("nodes", "instances"):
        inner = config.get(level)
        config = inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], dict) else {}
    return config


def _model(name: str) -> ModelSpec:
    """The model of this name, or of the name without what was done to the model afterwards."""
    short = name
    while True:
        try:
            return find_model(short)
        except UnknownNameError:
            short, _, last = short.rpartition("-")
            if not short or last.casefold() not in _VARIANTS:
                find_model(name)


def _said(kind: type, *places: tuple[str, str, object]) -> Any:
    """What the first place says that says anything."""
    for file, where, value in places:
        if value is None:
            continue
        if not isinstance(value, kind) or isinstance(value, bool):
            raise RunFileError(file, where, value, "text" if kind is str else "0 …")
        return value
    return None


def _number(place: tuple[str, str, object], least: float = 1e-9) -> float | None:
    """A number, at least `least` and below 1e15."""
    value = _said((int, float), place)
    if value is not None and not least <= value < 1e15:
        raise RunFileError(place[0], place[1], value, f"{least:g} …")
    return value


def _whole(*places: tuple[str, str, object]) -> int | None:
    """A whole number from 1 on."""
    value = _said(int, *places)
    if value is not None and value < 1:
        raise RunFileError(places[0][0], places[0][1], value, "1 …")
    return value


def _bits(setting: str, dtype: object) -> int:
    """Bits of a number of this type."""
    word = str(dtype).removeprefix("torch.")
    if word in _BITS:
        return _BITS[word]
    if word.startswith(_EIGHT_BITS):
        return 8
    raise RunFileError(META, setting, dtype, ", ".join((*_BITS, *_EIGHT_BITS)))


def _rows(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _requests(text: str) -> tuple[RequestTimes, ...]:
    """The requests, in order of arrival."""
    rows: list[Mapping[str, Any]] = []
    for number, line in _rows(text):
        row = _row(number, line)
        rows.append(row)
    if not rows:
        raise RunFileError(REQUESTS, "line 1", "", "a request a line")
    first_arrival = min(row["arrival_time"] for row in rows)
    first_queued = min(row["queued_ts"] for row in rows)

    def since(start: float) -> Callable[[float], int]:
        return lambda moment: round((moment - start) * 1_000_000) * 1000  # stamps hold microseconds

    arrived, engine = since(first_arrival), since(first_queued)
    return tuple(
        RequestTimes(
            arrived(row["arrival_time"]),
            row["input_toks"],
            row["output_toks"],
            engine(row["queued_ts"]),
            engine(row["first_token_ts"]),
            engine(row["last_token_ts"]),
        )
        for row in sorted(rows, key=lambda row: row["arrival_time"])
    )


def _row(number: int, line: str) -> Mapping[str, Any]:
    where = f"line {number}"
    try:
        row = json.loads(line)
    except ValueError:
        raise RunFileError(REQUESTS, where, line[:40], "JSON") from None
    if not isinstance(row, dict):
        raise RunFileError(REQUESTS, where, line[:40], "{…}")
    for name in ("input_toks", "output_toks"):
        if type(row.get(name)) is not int or row[name] < 1:
            raise RunFileError(REQUESTS, f"{where}, {name}", row.get(name, ""), "1 …")
    for name in ("arrival_time", "queued_ts", "first_token_ts", "last_token_ts"):
        if type(row.get(name)) not in (int, float) or not 0 <= row[name] < 1e12:
            raise RunFileError(REQUESTS, f"{where}, {name}", row.get(name, ""), "s")
    if not row["queued_ts"] <= row["first_token_ts"] <= row["last_token_ts"]:
        order = "queued_ts ≤ first_token_ts ≤ last_token_ts"
        raise RunFileError(REQUESTS, where, line[:40], order)
    return row


def _time_line(text: str) -> tuple[Load, ...]:
    """Who ran and waited each second."""
    rows = _rows(text)
    if not rows:
        return ()
    names = [name.strip() for name in rows[0][1].split(",")]
    wanted = ("t", "running", "waiting")
    for name in wanted:
        if name not in names:
            raise RunFileError(TIME_LINE, "line 1", name, ", ".join(wanted))
    at = [names.index(name) for name in wanted]
    loads = []
    for number, line in rows[1:]:
        cells = line.split(",")
        try:
            seconds, running, waiting = (float(cells[i]) for i in at)
            loads.append(Load(round(seconds * 10**9), round(running), round(waiting)))
        except (ValueError, IndexError, OverflowError):
            raise RunFileError(TIME_LINE, f"line {number}", line[:40], ", ".join(wanted)) from None
    return tuple(loads)
