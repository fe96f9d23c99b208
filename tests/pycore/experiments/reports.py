"""Reports of experiments at their presets, each made once a process: the longest takes seconds."""

from functools import cache

from pycore.experiments import EXPERIMENTS


@cache
def report(name: str, preset: str) -> dict:
    """What `experiment.report` says at a preset; not to be changed."""
    experiment = EXPERIMENTS[name]
    settings = next(each.settings for each in experiment.presets if each.name == preset)
    return experiment.report(experiment.run(settings))
