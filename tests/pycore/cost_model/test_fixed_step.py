from pycore.cost_model import FixedStep
from pycore.scheduling.batch import Batch
from tests.pycore.build import sequence


def test_a_fixed_step_takes_the_same_time_whatever_is_in_it():
    model = FixedStep(50_000_000)
    batch = Batch()
    assert model.step_ns(batch) == 50_000_000
    batch.add(sequence(0, prompt=1000), 1000)
    assert model.step_ns(batch) == 50_000_000
