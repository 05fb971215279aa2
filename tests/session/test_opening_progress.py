"""Every step before the first question tells how far it is, and changes nothing by it."""

import numpy as np
import pytest
from tests.system.test_progress import Shown

from superpac import Dataset, Session, Spec
from superpac.data.synthetic import make_subspaces


@pytest.mark.parametrize(
    ("clusters", "dim", "stages"),
    [("auto", None, ["affinity", "count", "clustering", "model"]),
     (3, 2, ["affinity", "clustering", "model"])],
)  # fmt: skip
def test_every_stage_is_told_to_its_end_and_questions_stay(clusters, dim, stages):
    X, _ = make_subspaces(20, 3, 4, 200, noise=0.05, seed=0)
    shown, spec = Shown(), Spec(clusters, affinity="tsc:q=5", dim=dim)
    told = Session.create(Dataset(X), spec, progress=shown)
    plain = Session.create(Dataset(X), spec)
    assert told.ask() == plain.ask()
    assert np.array_equal(told.labels(), plain.labels())
    assert list(shown.told) == stages
    for name, at in shown.told.items():
        done = [d for d, _ in at]
        assert done == sorted(done), name
        assert at[-1][0] == at[-1][1], name


def test_answers_that_are_there_are_gone_through_as_a_stage():
    X, y = make_subspaces(20, 3, 2, 30, seed=0)
    first = Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))
    for _ in range(5):
        question = first.ask()
        first.tell("same" if y[question.i] == y[question.j] else "different")
    shown = Shown()
    again = Session.open(Dataset(X), first.log, progress=shown)
    assert again.ask() == first.ask()
    assert shown.told["answers"][-1] == (5, 5)
    before = {name: len(told) for name, told in shown.told.items()}
    again.undo()
    again.ask()
    assert before == {name: len(told) for name, told in shown.told.items()}, "only the opening"
