"""Declaring, validating, reporting."""

import pytest

from pycore.experiments import EXPERIMENTS, by_subject
from pycore.experiments.experiment import SUBJECTS, Claim, Experiment, Param, Preset, SettingError
from pycore.experiments.result import Chart, Column, Result, Series, Table

SIZE = Param("size", "int", 3, 1, 10)
WAY = Param("way", "choice", "up", choices=("up", "down"))
LOUD = Param("loud", "bool", False)


def _measure(settings):
    yield 1, 2
    yield 2, 2
    return Result(settings, {"size": settings["size"]}, (), ())


DOUBLE = Experiment(
    "double",
    "memory",
    (SIZE, WAY, LOUD),
    (Preset("plain", {}),),
    (Claim("small", "nobody", lambda result: result.figures["size"] < 5),),
    _measure,
)


@pytest.mark.parametrize(
    ("param", "given", "value"),
    [
        (SIZE, "7", 7),
        (SIZE, 10, 10),
        (SIZE, "+1", 1),
        (WAY, "down", "down"),
        (LOUD, "1", True),
        (LOUD, 0, False),
        (LOUD, True, True),
        (LOUD, "false", False),
    ],
)
def test_a_value_or_the_text_of_it_is_taken(param, given, value):
    parsed = param.parse(given)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("param", "given", "expected"),
    [
        (SIZE, 0, "1..10"),
        (SIZE, "11", "1..10"),
        (SIZE, "-3", "1..10"),
        (SIZE, "3.5", "1..10"),
        (SIZE, "", "1..10"),
        (SIZE, "９", "1..10"),
        (SIZE, "9" * 5000, "1..10"),
        (SIZE, True, "1..10"),
        (SIZE, float("nan"), "1..10"),
        (SIZE, None, "1..10"),
        (WAY, "sideways", "up, down"),
        (WAY, ["up"], "up, down"),
        (LOUD, 2, "0, 1"),
        (LOUD, "yes", "0, 1"),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(param, given, expected):
    with pytest.raises(SettingError) as caught:
        param.parse(given)
    assert (caught.value.param, caught.value.expected) == (param.name, expected)
    assert caught.value.value is given


def test_settings_not_given_take_their_defaults():
    assert DOUBLE.validated({"way": "down"}) == {"size": 3, "way": "down", "loud": False}


def test_an_unknown_setting_is_refused():
    with pytest.raises(SettingError) as caught:
        DOUBLE.run({"sise": 3})
    assert (caught.value.param, caught.value.expected) == ("sise", "size, way, loud")


@pytest.mark.parametrize(("size", "holds"), [(4, True), (6, False)])
def test_a_report_says_of_each_claim_whether_it_holds(size, holds):
    report = DOUBLE.report(DOUBLE.run({"size": size}))
    assert report["experiment"] == "double"
    assert report["settings"]["size"] == size
    assert report["claims"] == [
        {
            "id": "small",
            "key": "experiment.double.claim.small",
            "source": "experiment.source.nobody",
            "holds": holds,
        }
    ]


def test_a_run_tells_its_progress_after_each_piece():
    seen = []
    DOUBLE.run({}, lambda *heard: seen.append(heard))
    assert seen == [(1, 2), (2, 2)]


def test_a_run_can_be_driven_piece_by_piece():
    work = DOUBLE.steps({"size": 4})
    assert [next(work), next(work)] == [(1, 2), (2, 2)]
    with pytest.raises(StopIteration) as end:
        next(work)
    assert end.value.value.figures == {"size": 4}


def test_settings_are_checked_before_the_first_piece():
    with pytest.raises(SettingError):
        DOUBLE.steps({"size": 0})


def test_what_progress_raises_stops_the_run_and_closes_the_work():
    closed = []

    def measure(settings):
        try:
            yield 1, 2
            yield 2, 2
        finally:
            closed.append(True)

    def stop(done, total):
        assert (done, total) == (1, 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Experiment("long", "memory", (), (), (), measure).run({}, stop)
    assert closed == [True]


def test_a_row_must_fill_its_columns():
    with pytest.raises(ValueError, match="1 cells under 2 columns"):
        Table("t", (Column("a", "int"), Column("b", "int")), ((1,),))


def test_a_series_must_have_a_value_for_every_position():
    with pytest.raises(ValueError, match="1 values for 2 positions"):
        Chart("c", "bar", (1, 2), "int", "x", "", "y", "", (Series("s", (1,)),))


def test_experiments_are_listed_by_subject_each_once():
    listed = by_subject()
    assert list(listed) == [subject for subject in SUBJECTS if subject in listed]
    assert sorted(each.name for group in listed.values() for each in group) == sorted(EXPERIMENTS)
    assert all(each.subject == subject for subject, group in listed.items() for each in group)
