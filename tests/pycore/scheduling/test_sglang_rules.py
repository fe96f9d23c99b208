"""What SGLang's rules do, against a second, small reckoning of the same rules over a bare count of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycore.assembly import build_engine
from pycore.config import ConfigError, EngineConfig, MemoryConfig, SchedulerConfig
from pycore.events import Admitted, EventLog, Preempted, Rejected, Waiting
from pycore.prompt import Prompt
from pycore.request import Request
from pycore.scheduling.queue_order import OrderRules


def engine_of(requests, num_blocks: int, page_size: int = 1, cache: str = "none", **scheduler):
    memory = MemoryConfig(
        num_blocks=num_blocks, block_size=page_size, page_size=page_size, prefix_cache=cache
    )
    config = EngineConfig(memory, SchedulerConfig(rules="sglang", **scheduler), max_len=1 << 20, step_ns=1)
    return build_engine(config, requests, EventLog())


class Reckoning:
    """Requests as [id, prompt, output, generated], memory as a number of pages; no cache, no chunks."""

    def __init__(self, num_pages: int, page: int, conservativeness: float) -> None:
        self.waiting: list[list[int]] = []
        self.running: list[list[int]] = []
        self.full = False
        self.num_pages, self.page = num_pages, page
        self.initial = self.ratio = min(0.7 * conservativeness, 1.0)

    def pages(self, tokens: int) -> int:
        return -(-tokens // self.page)

    def free(self) -> int:
        """Free tokens: of what a request has generated, the last is not in memory yet."""
        held = sum(self.pages(prompt + out - 1) for _, prompt, _, out in self.running)
        return (self.num_pages - held) * self.page

    def step(self) -> list[int]:
        """The ids of those that the next step computes."""
        admitted = self.admit()
        if admitted:
            self.running += admitted
            batch = admitted
        else:
            if self.running:
                self.decode()
            batch = self.running
        ids = [each[0] for each in batch]
        for each in batch:
            each[3] += 1
        left = [each for each in self.running if each[3] < each[2]]
        if len(left) < len(self.running):
            self.full = False
        self.running = left
        return ids

    def admit(self) -> list[list[int]]:
        if not self.running:
            self.full = False
        if self.full:
            return []
        rest = self.free() - sum(min(most - out, 4096) * self.ratio for _, _, most, out in self.running)
        admitted: list[list[int]] = []
        while self.waiting:
            _, prompt, most, out = self.waiting[0]
            extend = prompt + out
            if extend + min(most - out, 4096) + self.page >= rest:
                self.full = bool(self.running)  # kept with those that run, and lost where there are none
                break
            rest -= self.pages(extend) * self.page + self.page + min(most, 4096)
            admitted.append(self.waiting.pop(0))
        return admitted

    def decode(self) -> None:
        retracted = False
        while sum((p + out - 1) % self.page == 0 for _, p, _, out in self.running) * self.page > self.free():
            order = sorted(self.running, key=lambda each: (each[3], -each[1]), reverse=True)
            self.running.remove(order[-1])
            self.waiting.append(order[-1])
            retracted = True
        if retracted:
            self.full = False
            generated = sum(each[3] for each in self.running) + 20 * len(self.running)
            self.ratio = min(1.0, generated / (sum(each[2] for each in self.running) + 1))
        else:
            fall = (self.initial - self.initial * 0.14) / 600
            self.ratio = max(self.ratio - fall, self.initial * 0.14)


@given(
    loads=st.lists(
        st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(0, 4)), min_size=1, max_size=20
    ),
    num_pages=st.integers(20, 90),
    page=st.sampled_from([1, 1, 4]),
    conservativeness=st.sampled_from([1.0, 0.3, 0.0]),
)
def test_every_step_computes_those_that_the_reckoning_says(loads, num_pages, page, conservativeness):
    arrival, requests = 0, []
    for id, (prompt, output, gap) in enumerate(loads):
        arrival += gap
        requests.append(Request(id, arrival, prompt, output))
    engine = engine_of(requests, num_pages, page, conservativeness=conservativeness)
    reckoning = Reckoning(num_pages, page, conservativeness)
    for step in range(5_000):
        if engine.done:
            break
        idle = not reckoning.waiting and not reckoning.running
        engine.step()
        engine.check()
        events = engine.log.drain()
        rejected = {event.seq for event in events if isinstance(event, Rejected)}
        for request in requests:
            if request.arrival_ns == step and request.id not in rejected:
                reckoning.waiting.append([request.id, request.prompt_len, request.output_len, 0])
                if idle:
                    reckoning.ratio = reckoning.initial
        before = {each[0]: each[3] for each in [*reckoning.waiting, *reckoning.running]}
        ids = reckoning.step()
        admitted = [event.seq for event in events if type(event).__name__ in ("Admitted", "Recovered")]
        if admitted:
            assert admitted == ids
        running = {seq.id: seq.num_generated for seq in engine.scheduler.running}
        assert running == {each[0]: each[3] for each in reckoning.running}
        waiting = [seq.id for seq in engine.scheduler.waiting]
        assert waiting == [each[0] for each in reckoning.waiting]
        assert set(ids) <= before.keys()
    assert engine.done


def test_an_admission_waits_for_the_share_of_the_tokens_to_come_and_says_so():
    engine = engine_of([Request(0, 0, 10, 60), Request(1, 1, 10, 20)], 100)
    engine.step()
    engine.log.drain()
    engine.step()
    # 90 − 59 · 0.7 are left of the 90 free slots, and 10 + 20 + 1 do not fit beside it before r0 has left
    told = [event for event in engine.log.drain() if isinstance(event, Waiting)]
    assert not told
    assert [seq.id for seq in engine.scheduler.running] == [0, 1]
    engine = engine_of([Request(0, 0, 10, 80), Request(1, 1, 10, 30)], 100)
    for _ in range(3):
        engine.step()
    told = [event for event in engine.log.drain() if isinstance(event, Waiting)]
    assert [(event.seq, event.reason) for event in told] == [(1, "set_aside")]


def test_the_one_with_the_fewest_outputs_gives_way_and_waits_behind_all_others():
    requests = [Request(0, 0, 20, 30), Request(1, 0, 20, 30), Request(2, 5, 5, 30), Request(3, 30, 4, 4)]
    engine = engine_of(requests, 104, conservativeness=0.0)
    told = []
    while not engine.done and not told:
        engine.step()
        engine.check()
        told += [event for event in engine.log.drain() if isinstance(event, Preempted)]
    assert (told[0].seq, told[0].victim) == (2, "fewest_outputs")
    assert engine.scheduler.waiting[-1].id == 2


def test_the_prompt_of_a_retracted_request_is_found_again_and_what_it_generated_is_not():
    requests = [
        Request(id, id, 20, 30, prompt=Prompt(tuple(range(100 * id, 100 * id + 20)))) for id in range(3)
    ]
    engine = engine_of(requests, 130, cache="radix", conservativeness=0.0)
    while not engine.done:
        engine.step()
        engine.check()
    stats = engine.allocator.stats
    assert engine.scheduler.num_preemptions == 1
    assert stats.hits == 0
    assert stats.preempted_queries > 20
    assert stats.preempted_hits <= 20


def test_a_prompt_in_pieces_goes_on_before_anybody_decodes():
    engine = engine_of([Request(0, 0, 4, 9), Request(1, 1, 20, 3)], 200, token_budget=8)
    computed = []
    for _ in range(5):
        engine.step()
        engine.check()
        computed.append([(seq.id, seq.num_computed) for seq in engine.scheduler.running])
    assert computed == [
        [(0, 4)],
        [(0, 4), (1, 8)],
        [(0, 4), (1, 16)],
        [(0, 4), (1, 20)],
        [(0, 5), (1, 21)],
    ]


def test_the_last_piece_leaves_the_rest_of_the_budget_to_others():
    requests = [Request(0, 0, 10, 3), Request(1, 0, 6, 3), Request(2, 0, 5, 3)]
    engine = engine_of(requests, 200, token_budget=8)
    admitted = []
    for _ in range(3):
        engine.step()
        admitted.append([(e.seq, e.num_tokens) for e in engine.log.drain() if isinstance(e, Admitted)])
    assert admitted == [[(0, 8)], [(1, 6)], [(2, 5)]]


def test_longest_prefix_first_lets_a_later_one_pass_and_counts_how_long_the_first_waits():
    shared = tuple(range(40))
    requests = [Request(0, 0, 41, 2, prompt=Prompt((*shared, 50)))]
    requests += [Request(1, 1, 40, 2, prompt=Prompt(tuple(range(100, 140))))]
    requests += [Request(id, id, 41, 2, prompt=Prompt((*shared, 50 + id))) for id in range(2, 6)]
    options = {"cache": "radix", "max_num_seqs": 1}
    waits = {}
    for queue in ("fcfs", "lpm", "capped_wait", "ageing"):
        engine = engine_of(requests, 400, queue=queue, order=OrderRules(ageing=30, longest_wait=3), **options)
        order = []
        while not engine.done:
            engine.step()
            engine.check()
            order += [event.seq for event in engine.log.drain() if isinstance(event, Admitted)]
        waits[queue] = (order.index(1), engine.scheduler.longest_wait_steps)
        assert engine.scheduler.longest_wait_ns >= engine.scheduler.longest_wait_steps
    assert waits["fcfs"][0] == 1
    assert waits["lpm"][0] == 5
    assert waits["capped_wait"][0] < waits["lpm"][0]
    assert waits["ageing"][0] < waits["lpm"][0]
    assert waits["lpm"][1] == max(steps for _, steps in waits.values())


@pytest.mark.parametrize(
    ("memory", "scheduler", "complaint"),
    [
        (
            {"prefix_cache": "hash_chain"},
            {"rules": "sglang"},
            "prefix_cache is 'hash_chain', expected none or",
        ),
        (
            {"prefix_cache": "radix"},
            {"rules": "vllm-v1"},
            "prefix_cache is 'radix', expected none or hash_chain",
        ),
        ({}, {"queue": "lpm"}, " or lof without a prefix cache"),
        (
            {"prefix_cache": "hash_chain"},
            {"queue": "dfs_weight"},
            "expected another one without a radix tree",
        ),
        ({}, {"rules": "vllm-v0", "queue": "lof"}, "queue is 'lof', expected fcfs under vllm-v0 rules"),
        ({}, {"rules": "sglang", "conservativeness": -1.0}, "conservativeness is -1.0, expected 0 or more"),
        (
            {"prefix_cache": "radix", "block_size": 4, "page_size": 3},
            {},
            "page_size is 3, expected a divisor of",
        ),
        (
            {"prefix_cache": "radix", "page_size": 0},
            {},
            "page_size is 0, expected a divisor of the block size, 4",
        ),
        ({"prefix_cache": "radix", "eviction": "oldest"}, {}, "eviction is 'oldest', expected one of lru, "),
        ({"prefix_cache": "radix", "num_blocks": 0}, {}, "num_blocks is 0, expected at least 1 block"),
        ({"prefix_cache": "radix", "mode": "contiguous"}, {}, "mode is 'contiguous', expected paged with"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(memory, scheduler, complaint):
    with pytest.raises(ConfigError) as refused:
        EngineConfig(MemoryConfig(**memory), SchedulerConfig(**scheduler))
    assert complaint in str(refused.value)


def computed_by_step(engine, steps):
    """Tokens computed of each sequence, a step each."""
    told = []
    for _ in range(steps):
        before = {seq.id: seq.num_computed for seq in engine.scheduler.running}
        engine.step()
        engine.check()
        after = {seq.id: seq.num_computed for seq in engine.scheduler.running}
        told.append({id: n - before.get(id, 0) for id, n in after.items() if n != before.get(id, 0)})
    return told


def test_pieces_of_prompts_end_with_a_page_and_whole_pages_are_taken_from_the_budget():
    requests = [Request(0, 0, 5, 9), Request(1, 0, 20, 9)]
    engine = engine_of(requests, 40, cache="radix", page_size=4, token_budget=16)
    assert computed_by_step(engine, 2) == [{0: 5, 1: 8}, {1: 12}]


def test_whoever_did_not_fit_beside_the_first_prompts_is_asked_again_once_these_decode():
    engine = engine_of(
        [Request(0, 0, 12, 18), Request(1, 0, 13, 12), Request(2, 0, 1, 18)], 29, page_size=2, token_budget=14
    )
    told = computed_by_step(engine, 2)
    assert told == [{0: 12}, {1: 13}]  # at first all of r0's tokens to come count, then a share of them


def test_a_prompt_that_goes_on_counts_with_all_its_tokens_to_come():
    requests = [Request(0, 0, 4, 15), Request(1, 0, 25, 8), Request(2, 0, 21, 2)]
    engine = engine_of(requests, 20, page_size=4, token_budget=24)
    assert computed_by_step(engine, 2) == [{0: 4, 1: 20}, {1: 5}]  # r2 would fit beside a share of r1's
