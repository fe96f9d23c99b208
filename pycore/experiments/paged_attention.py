"""Attention over scattered blocks gives the answers of attention over one piece."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pycore.experiments.experiment import Claim, Experiment, Param, Preset, Setting, Work
from pycore.experiments.result import BLOCKS, PERCENT, STEPS, TOKENS, Chart, Column, Result, Series, Table

if TYPE_CHECKING:
    from pycore.experiments.attention_run import AttentionRun

_KEY = "experiment.paged_attention."
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
    blocks = Table(
        f"{_KEY}table.blocks",
        (
            Column(f"{_KEY}column.at", "int"),
            Column(f"{_KEY}column.block", "int"),
            Column(f"{_KEY}column.tokens", "int", TOKENS),
            Column(f"{_KEY}column.best", "float"),
            Column(f"{_KEY}column.maximum", "float"),
            Column(f"{_KEY}column.rescale", "float"),
            Column(f"{_KEY}column.total", "float"),
            Column(f"{_KEY}column.weight", "float", PERCENT),
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
    requests = Table(
        f"{_KEY}table.requests",
        (
            Column(f"{_KEY}column.request", "int"),
            Column(f"{_KEY}column.arrival", "int", STEPS),
            Column(f"{_KEY}column.prompt", "int", TOKENS),
            Column(f"{_KEY}column.output", "int", TOKENS),
            Column(f"{_KEY}column.same", "int", TOKENS),
            Column(f"{_KEY}column.logits_off", "float"),
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
    traced = run.traced
    position = (tuple(range(traced["length"])), "int", f"{_KEY}axis.position", "")
    scores = [score for tile in traced["tiles"] for score in tile["scores"]]
    weights = (
        Series(f"{_KEY}series.paged", tuple(round(100 * weight, 3) for weight in traced["weights"])),
        Series(f"{_KEY}series.dense", tuple(round(100 * weight, 3) for weight in traced["dense_weights"])),
    )
    at = (tuple(range(len(traced["tiles"]))), "int", f"{_KEY}column.at", BLOCKS)
    running = (
        Series(f"{_KEY}column.maximum", tuple(round(tile["maximum"], 4) for tile in traced["tiles"])),
        Series(f"{_KEY}column.total", tuple(round(tile["total"], 4) for tile in traced["tiles"])),
    )
    score = Series(f"{_KEY}series.score", tuple(round(score, 4) for score in scores))
    return (
        Chart(f"{_KEY}chart.scores", "bar", *position, score.key, "", (score,)),
        Chart(f"{_KEY}chart.running", "line", *at, f"{_KEY}axis.running", "", running),
        Chart(f"{_KEY}chart.weights", "line", *position, f"{_KEY}axis.weight", PERCENT, weights),
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
