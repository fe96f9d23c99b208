from pycore.scheduling.batch import Batch
from tests.pycore.build import sequence


def test_a_batch_keeps_the_order_of_scheduling():
    batch = Batch()
    assert (len(batch), batch.num_preempted) == (0, 0)
    first, second = sequence(1, prompt=7), sequence(0, prompt=3)
    batch.add(first, 7)
    batch.add(second, 1)
    assert (batch.seqs, batch.num_new, len(batch)) == ([first, second], [7, 1], 2)
