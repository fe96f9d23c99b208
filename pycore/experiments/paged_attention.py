"""Attention over scattered blocks gives the answers of attention over one piece."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.keys import Keys
from pycore.experiments.result import BLOCKS, PERCENT, STEPS, TOKENS, Chart, Column, Result, Table

if TYPE_CHECKING:
    from pycore.experiments.attention_run import AttentionRun

_KEYS = Keys("paged_attention")
_TOLERANCE = 5e-6  # of logits in float32 (facts section 4)
_WEIGHT_TOLERANCE = 1e-6


def measure(settings: Mapping[str, Setting]) -> Work:
    """Generates the six requests alone, then together, and traces one query."""
    from pycore.experiments.attention_run import AttentionRun  # needs numpy

    run = AttentionRun(settings["block_size"], settings["order"], settings["seed"])
    total = len(run.requests) + max(request.arrival_ns + request.output_len for request in run.requests)
    done = 0
    for piece in (run.generate_alone(), run.serve(settings["request"], settings["layer"], settings["head"])):
        for _ in piece:
            done += 1
            yield min(done, total), total
    return Result(
        settings, _figures(run), _tables(run), _charts(run), {"trace": _trace(run), "answers": _answers(run)}
    )


def _figures(run: "AttentionRun") -> dict[str, int | float | str]:
    weights = zip(run.traced["weights"], run.traced["dense_weights"], strict=True)
    worst = max(run.together[request.id].logits_off(run.alone[request.id]) for request in run.requests)
    return {
        "requests": len(run.requests),
        "tokens": sum(len(answer.tokens) for answer in run.together.values()),
        "off": sum(run.together[id].tokens != answer.tokens for id, answer in run.alone.items()),
        "most": run.most,
        "neighbours": run.neighbours,
        "scattered": run.scattered,
        "logits_off": f"{worst:.1e}",
        "length": run.traced["length"],
        "tiles": len(run.traced["tiles"]),
        "weights_off": f"{max(abs(paged - dense) for paged, dense in weights):.1e}",
        "weights_sum": round(sum(run.traced["weights"]), 6),
    }


def _tables(run: "AttentionRun") -> tuple[Table, ...]:
    weights = run.traced["weights"]
    blocks = _KEYS.table(
        "blocks",
        (
            _KEYS.column("at", "int"),
            _KEYS.column("block", "int"),
            _KEYS.column("tokens", "int", TOKENS),
            _KEYS.column("best", "float"),
            _KEYS.column("maximum", "float"),
            _KEYS.column("rescale", "float"),
            _KEYS.column("total", "float"),
            _KEYS.column("weight", "float", PERCENT),
        ),
        tuple(
            (
                at,
                tile["blocks"][0],
                len(tile["scores"]),
                round(max(tile["scores"]), 3),
                round(tile["maximum"], 3),
                round(tile["rescale"], 3) if at else None,
                round(tile["total"], 3),
                round(100 * sum(weights[tile["first"] : tile["first"] + len(tile["scores"])]), 1),
            )
            for at, tile in enumerate(run.traced["tiles"])
        ),
    )
    requests = _KEYS.table(
        "requests",
        (
            _KEYS.column("request", "int"),
            _KEYS.column("arrival", "int", STEPS),
            _KEYS.column("prompt", "int", TOKENS),
            _KEYS.column("output", "int", TOKENS),
            _KEYS.column("same", "int", TOKENS),
            _KEYS.column("logits_off", "float"),
        ),
        tuple(
            (
                request.id,
                request.arrival_ns,
                request.prompt_len,
                request.output_len,
                sum(
                    mine == theirs
                    for mine, theirs in zip(
                        run.together[request.id].tokens, run.alone[request.id].tokens, strict=True
                    )
                ),
                round(1e6 * run.together[request.id].logits_off(run.alone[request.id]), 2),
            )
            for request in run.requests
        ),
    )
    return (blocks, requests)


def _charts(run: "AttentionRun") -> tuple[Chart, ...]:
    traced, tiles = run.traced, run.traced["tiles"]
    position, positions = _KEYS.axis("position", kind="int"), range(traced["length"])
    scores = [round(score, 4) for tile in tiles for score in tile["scores"]]
    weights = {
        _KEYS.of("series.paged"): [round(100 * weight, 3) for weight in traced["weights"]],
        _KEYS.of("series.dense"): [round(100 * weight, 3) for weight in traced["dense_weights"]],
    }
    running = {
        _KEYS.of("column.maximum"): [round(tile["maximum"], 4) for tile in tiles],
        _KEYS.of("column.total"): [round(tile["total"], 4) for tile in tiles],
    }
    at, score = _KEYS.column("at", "int", BLOCKS), Column(_KEYS.of("series.score"), "float")
    return (
        _KEYS.chart("scores", "bar", position, positions, score, scores),
        _KEYS.chart("running", "line", at, range(len(tiles)), _KEYS.axis("running"), running),
        _KEYS.chart("weights", "line", position, positions, _KEYS.axis("weight", PERCENT), weights),
    )


def _trace(run: "AttentionRun") -> dict[str, list]:
    """The traced query for a picture of its own: one entry a tile, and one a token."""
    tiles = run.traced["tiles"]
    columns = {name: [tile[name] for tile in tiles] for name in ("first", "maximum", "total", "rescale")}
    return {
        **columns,
        "block": [tile["blocks"][0] for tile in tiles],
        "scores": [tile["scores"] for tile in tiles],
        "weights": run.traced["weights"],
        "dense_weights": run.traced["dense_weights"],
    }


def _answers(run: "AttentionRun") -> dict[str, list]:
    """What each request generated, together with the others."""
    return {
        "request": list(run.together),
        "tokens": [list(map(int, answer.tokens)) for answer in run.together.values()],
    }


def _same_tokens(result: Result) -> bool:
    figures = result.figures
    return figures["tokens"] > 0 and figures["off"] == 0 and figures["most"] >= 2


def _logits_close(result: Result) -> bool:
    return float(result.figures["logits_off"]) <= _TOLERANCE


def _row_of_dense(result: Result) -> bool:
    figures = result.figures
    return float(figures["weights_off"]) <= _WEIGHT_TOLERANCE and abs(figures["weights_sum"] - 1) < 1e-5


PAGED_ATTENTION = Experiment(
    name="paged_attention",
    subject="attention",
    params=(
        Param("block_size", "int", 4, 1, 16, unit=TOKENS),
        Param("order", "choice", "shuffled", choices=("ascending", "shuffled")),
        Param("request", "int", 3, 0, 5),
        Param("layer", "int", 0, 0, 1),
        Param("head", "int", 0, 0, 3),
        Param("seed", "int", 5, 0, 9999),
    ),
    presets=(
        Preset("blocks_of_4", {}),
        Preset("blocks_of_1", {"block_size": 1}),
        Preset("blocks_of_16", {"block_size": 16, "request": 5}),
        Preset("ascending", {"order": "ascending", "layer": 1, "head": 2}),
    ),
    claims=(
        Claim("same_tokens", "lecture_radix_3_2", _same_tokens),
        Claim("logits_close", "lecture_vllm_3_2", _logits_close),
        Claim("row_of_dense", "lecture_vllm_3_2", _row_of_dense),
    ),
    measure=measure,
    needs=("numpy",),
)
