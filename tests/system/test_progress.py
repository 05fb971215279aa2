"""Progress of work in parts and stages."""

from superpac.system.progress import WHOLE, no_progress, parts_of, stage_of


class Shown:
    """What was told, by stage."""

    def __init__(self):
        self.told = {}

    def __call__(self, done, total):
        self.stage("")(done, total)

    def stage(self, name):
        told = self.told.setdefault(name, [])
        return lambda done, total: told.append((done, total))


def test_parts_go_on_where_the_last_one_ended():
    told = []
    first, second, last = parts_of(lambda done, total: told.append((done, total)), [1, 0, 1])
    for done in range(5):
        first(done, 4)
    second(1, 1)
    last(1, 2)
    first(2, 4)  # late: nothing goes back
    last(7, 7)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (WHOLE, WHOLE)


def test_a_total_that_grows_does_not_take_the_bar_back():
    told = []
    (part,) = parts_of(lambda done, total: told.append(done), [3.0])
    for done, total in ((1, 2), (2, 8), (5, 8), (9, 8), (8, 8)):
        part(done, total)
    assert told == sorted(told)
    assert told[-1] == WHOLE


def test_nothing_is_told_to_nobody_and_no_work_is_done_at_once():
    assert parts_of(no_progress, [1, 2]) == [no_progress, no_progress]
    told = []
    (part,) = parts_of(lambda *at: told.append(at), [0.0])
    part(0, 3)
    assert told == [(WHOLE, WHOLE)]


def test_stages_have_names_where_somebody_shows_them():
    shown = Shown()
    stage_of(shown, "map")(1, 2)
    assert shown.told == {"map": [(1, 2)]}
    assert stage_of(print, "map") is print
