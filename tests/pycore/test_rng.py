from pycore.rng import Rng


def test_the_same_integers_come_out_on_every_platform():
    rng = Rng(5).fork("a")
    assert rng.seed == 17890070650077469244
    assert [rng.randrange(1000) for _ in range(6)] == [869, 319, 18, 617, 851, 34]
    assert [rng.randrange(10, 20) for _ in range(6)] == [10, 14, 11, 12, 19, 12]
    assert rng.getrandbits(32) == 2836498443
    assert rng.getrandbits(64) == 2286995364726078634
    assert rng.choices("abc", (1, 2, 3), 8) == list("ccbbbbcb")
    assert rng.random().hex() == "0x1.56b8a6cb05dd8p-4"
    items = list(range(12))
    rng.shuffle(items)
    assert items == [4, 9, 2, 7, 10, 3, 11, 0, 8, 5, 6, 1]


def test_a_fork_draws_nothing_from_its_parent():
    alone, forked = Rng(1), Rng(1)
    forked.fork("arrivals").randrange(100)
    assert [forked.getrandbits(32) for _ in range(4)] == [alone.getrandbits(32) for _ in range(4)]


def test_drawing_for_one_purpose_shifts_no_other():
    rng = Rng(1)
    expected = [rng.fork("lengths").getrandbits(32) for _ in range(3)]
    arrivals = rng.fork("arrivals")
    for _ in range(3):
        arrivals.random()
        assert rng.fork("lengths").getrandbits(32) == expected[0]


def test_purposes_and_seeds_give_streams_of_their_own():
    streams = [Rng(seed).fork(purpose).getrandbits(64) for seed in range(20) for purpose in ("a", "b", "1/a")]
    assert len(set(streams)) == len(streams)


def test_a_fork_of_a_fork_depends_on_the_whole_path():
    assert Rng(3).fork("a").fork("b").seed != Rng(3).fork("b").fork("a").seed


def test_randrange_stays_in_its_range():
    rng = Rng(9)
    assert {rng.randrange(3) for _ in range(100)} == {0, 1, 2}
    assert {rng.randrange(5, 8) for _ in range(100)} == {5, 6, 7}
