"""Experiments: a question, settings, a run, and the claims that its result should bear out."""

from pycore.experiments.block_size import BLOCK_SIZE
from pycore.experiments.experiment import Experiment
from pycore.experiments.external_fragmentation import EXTERNAL_FRAGMENTATION
from pycore.experiments.few_shot_order import FEW_SHOT_ORDER
from pycore.experiments.fragmentation import FRAGMENTATION
from pycore.experiments.theorem import THEOREM

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (FRAGMENTATION, EXTERNAL_FRAGMENTATION, BLOCK_SIZE, FEW_SHOT_ORDER, THEOREM)
}
