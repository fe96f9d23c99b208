"""What a recorded run comes to, in figures."""

WASTE = ("real", "reserved", "internal", "external", "usable")
COUNTS = ("running", "waiting", "finished", "rejected", "preemptions")


def run_summary(recording: dict) -> dict:
    """Means over the steps of a run, and the counts at its end.

    Args:
        recording: columns, see app.backend.columns; frame 0, before the first step, does not count.

    Returns:
        steps: run. requests: that arrived. running, waiting, finished, rejected, preemptions: at the end.
        mean_running, max_running, max_waiting: sequences. mean: the account of the pool in slots, as means.
        utilisation: mean share of the pool that holds real tokens, 0 to 1. waste_of_held: share of the held
        slots that hold none, 0 to 1. With a prefix cache also found: tokens found there, and cached: mean
        slots of blocks that it keeps and nobody uses.
    """
    frames, steps = recording["frames"], recording["steps"]
    mean = {name: sum(frames[name][1:]) / max(1, steps) for name in WASTE}
    cache = {}
    if "cached" in frames:
        cache = {"found": frames["found"][-1], "cached": sum(frames["cached"][1:]) / max(1, steps)}
    held = mean["real"] + mean["reserved"] + mean["internal"]
    return {
        "steps": steps,
        "requests": len(recording["seqs"]["id"]),
        **{name: frames[name][-1] for name in COUNTS},
        "mean_running": sum(frames["running"][1:]) / max(1, steps),
        "max_running": max(frames["running"]),
        "max_waiting": max(frames["waiting"]),
        "mean": mean,
        "utilisation": mean["real"] / recording["capacity"],
        "waste_of_held": 1 - mean["real"] / held if held else 0.0,
        **cache,
    }
