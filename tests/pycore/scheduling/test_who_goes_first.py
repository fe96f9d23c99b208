"""Who is let in first, and who gives way."""

from pycore.assembly import build_engine
from pycore.config import EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import Admitted, EventLog, Preempted
from pycore.request import Request, Sequence
from pycore.scheduling.policies import VICTIM
from tests.pycore.build import sequence


def generated(id: int, tokens: int, arrival: int = 0) -> Sequence:
    seq = sequence(id, prompt=5, output=50, arrival=arrival)
    seq.num_tokens += tokens
    return seq


def test_most_outputs_takes_who_has_generated_most_and_of_these_the_latest():
    running = [generated(0, 9), generated(1, 12, arrival=3), generated(2, 12, arrival=7), generated(3, 1)]
    assert VICTIM["most_outputs"](running).id == 2


def kinds(config: EngineConfig, requests: list[Request], kind: type) -> list[int]:
    """Ids of the sequences that such an event told of, in order."""
    engine = build_engine(config, requests, EventLog())
    while not engine.done:
        engine.skip_idle()
        engine.step()
    return [event.seq for event in engine.log.drain() if isinstance(event, kind)]


def test_shortest_first_lets_the_shortest_prompt_in_and_ties_by_arrival():
    config = EngineConfig(scheduler=SchedulerConfig(queue="shortest", max_num_seqs=1), step_ns=1)
    load = [Request(i, 0, prompt, 3) for i, prompt in enumerate((9, 4, 6, 4))]
    assert kinds(config, load, Admitted) == [1, 3, 2, 0]


def test_prompts_come_first_and_alone_under_prefill_first():
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=20), scheduler=SchedulerConfig(rules="prefill-first"), step_ns=1
    )
    engine = build_engine(config, [Request(0, 0, 5, 9), Request(1, 2, 5, 9)], EventLog())
    counts = []
    for _ in range(4):
        engine.step()
        counts.append([seq.num_generated for seq in engine.scheduler.running])
    assert counts == [[1], [2], [2, 1], [3, 2]]  # r0 rests while the prompt of r1 is computed


def test_prefill_first_holds_in_contiguous_memory_too():
    config = EngineConfig(
        memory=MemoryConfig(mode="contiguous", num_blocks=20),
        scheduler=SchedulerConfig(rules="prefill-first"),
        max_len=40,
        step_ns=1,
    )
    assert kinds(config, [Request(i, i, 10, 10) for i in range(5)], Admitted) == [0, 1, 2, 3, 4]


def test_a_chunked_prompt_is_computed_beside_the_decodes():
    config = EngineConfig(
        memory=MemoryConfig(num_blocks=20),
        scheduler=SchedulerConfig(rules="chunked", token_budget=4),
        step_ns=1,
    )
    engine = build_engine(config, [Request(0, 0, 3, 9), Request(1, 1, 9, 9)], EventLog())
    computed = []
    for _ in range(4):
        engine.step()
        computed.append([(seq.num_computed, seq.num_generated) for seq in engine.scheduler.running])
    assert computed == [[(3, 1)], [(4, 2), (3, 0)], [(5, 3), (6, 0)], [(6, 4), (9, 1)]]


def test_the_victim_that_is_configured_is_preempted():
    load = [Request(0, 0, 4, 20), Request(1, 3, 4, 20), Request(2, 6, 4, 20)]
    hit = {}
    for victim in ("latest_arrival", "most_outputs"):
        config = EngineConfig(
            memory=MemoryConfig(num_blocks=10),
            scheduler=SchedulerConfig(victim=victim, watermark=0),
            max_len=40,
            step_ns=1,
        )
        hit[victim] = kinds(config, load, Preempted)[0]
    assert hit == {"latest_arrival": 2, "most_outputs": 0}
