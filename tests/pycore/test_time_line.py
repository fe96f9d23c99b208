"""Means over time in bounded memory, and when their points began."""

from pycore.time_line import TimeLine


def test_only_points_that_are_left_are_asked_when_they_began():
    asked = []

    def start_of(step):
        return lambda: asked.append(step) or 10 * step

    line = TimeLine(("running",), max_points=2)
    for step in range(8):
        line.add(start_of(step), (step,))
    assert line.columns() == {"now_ns": [0, 40], "running": [1.5, 5.5]}
    assert line.columns() == {"now_ns": [0, 40], "running": [1.5, 5.5]}
    assert asked == [0, 4]


def test_steps_that_are_added_together_count_like_those_added_one_by_one():
    single, several = TimeLine(("real",), max_points=4), TimeLine(("real",), max_points=4)
    for step in range(40):
        single.add(step, (step * step,))
    step = 0
    while step < 40:
        num = min(several.num_open or several.num_new, 40 - step)
        several.add(step, (sum(at * at for at in range(step, step + num)),), num)
        step += num
    assert several.columns() == single.columns()
    assert several.totals() == single.totals()
